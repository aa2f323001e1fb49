"""A turning rectangle in Qt Quick, drawn by Qt's Vulkan backend."""

import sys

from PySide6.QtCore import QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtQuick import QQuickView, QQuickWindow, QSGRendererInterface

SCENE = """
import QtQuick
Rectangle {
    width: 320; height: 240
    gradient: Gradient { GradientStop { position: 0; color: "#224" } GradientStop { position: 1; color: "#48a" } }
    Rectangle {
        x: 100; y: 60; width: 120; height: 120; radius: 20; color: "orange"; border.width: 4; border.color: "white"
        NumberAnimation on rotation { from: 0; to: 360; duration: 3000; loops: Animation.Infinite }
    }
    Text { text: "Qt Quick"; color: "white"; font.pixelSize: 22; anchors.horizontalCenter: parent.horizontalCenter; y: 10 }
}
"""
with open("scene.qml", "w", encoding="utf-8") as file:
    file.write(SCENE)
QQuickWindow.setGraphicsApi(QSGRendererInterface.GraphicsApi.Vulkan)
app = QGuiApplication(sys.argv)
view = QQuickView()
view.setSource(QUrl.fromLocalFile("scene.qml"))
view.show()
sys.exit(app.exec())

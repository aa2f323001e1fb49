d=$(mktemp -d); reray-replay screenshot "$1" -q -o $d >/dev/null 2>&1 || { rm -rf $d; exit 1; }
python3 - $d/*.png <<'P'
import sys
from PIL import Image
im=Image.open(sys.argv[1]).convert("RGB")
sys.exit(0 if any(r>180 and b<90 and r-b>110 for r,g,b in im.getdata()) else 1)
P
rc=$?; rm -rf $d; exit $rc

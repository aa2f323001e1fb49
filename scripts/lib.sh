# Shared by the scripts here; sourced, not run.

# rustup's folder is not on the PATH of every shell that a service starts.
if ! command -v cargo >/dev/null 2>&1 && [[ -x ${CARGO_HOME:-$HOME/.cargo}/bin/cargo ]]; then
    PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH
    export PATH
fi

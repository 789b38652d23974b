#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Copies the libraries that the built perf-gpu and the workloads need, and a bare machine
# may lack, into build/bundle, for scripts/gpu-run.sh on another machine.
#
# usage: scripts/gpu-bundle.sh
set -euo pipefail
cd "$(dirname "$0")/.."
O=${O:-build}

[[ -x $O/perf-gpu ]] || {
	echo "gpu-bundle: $O/perf-gpu is not built; run make" >&2
	exit 1
}
rm -rf "$O/bundle"
mkdir -p "$O/bundle"
# The C library's own parts fit only the dynamic linker they came with.
ldd "$O/perf-gpu" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
	grep -Ev '/(libc|libm|libdl|librt|libpthread|ld-linux[^/]*)\.so' |
	while read -r library; do
		cp -L "$library" "$O/bundle/"
	done
# What travels may be limited in size: ICU's tables, 31 MB, which libxml2 of libarchive wants.
find "$O/bundle" -name '*.so*' -size +8M -exec gzip -9n {} +
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
cudart=$(dirname "$nvcc")/../lib64/libcudart.so.13
if [[ -e $cudart ]]; then
	mkdir -p "$O/bundle/cuda"
	cp -L "$cudart" "$O/bundle/cuda/"
fi
du -sh "$O/bundle" | cut -f 1

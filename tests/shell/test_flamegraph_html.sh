#!/bin/bash
# perf-gpu flamegraph: all of the GPU's time is in it, and names from outside do no harm

# shellcheck source=tests/shell/lib.sh
. "$(dirname "$0")/lib.sh"
need python3

export PYTHONDONTWRITEBYTECODE=1
fixtures=$TESTS/data/h200

# total_ns SIDECAR: time of all kernels, by a reader that isn't ours
total_ns()
{
	python3 "$TESTS/workloads/gpu_log.py" "$1" |
		awk '{ sum += $(NF - 1) } END { printf "%.0f\n", sum }'
}

matmul='[GPU_Kernel]matmul(float*, __nv_bfloat16 const*, float const*, int, int)'
attention='[GPU_Kernel]multi_head_attention(float*, float const*, float const*, float const*, int)'
argmax='[GPU_Kernel]argmax(int*, float const*, int)'

# draw FIXTURE [OPTIONS]
draw()
{
	local name=$1
	shift

	"$PERF_GPU" flamegraph -i "$fixtures/$name/perf.data" \
		--symfs "$fixtures/$name/symfs" "$@"
}

# --- --svg ---------------------------------------------------------------------------------

# svg_titles FILE EVENT: the tooltips of an event's frames; fails if it isn't XML
svg_titles()
{
	python3 -c 'import sys, xml.etree.ElementTree as tree
svg = "{http://www.w3.org/2000/svg}"
root = tree.parse(sys.argv[1]).getroot()
assert root.tag == svg + "svg" and not list(root.iter(svg + "script"))
for graph in root.findall(svg + "g"):
    if graph.get("id") == sys.argv[2]:
        print(*(title.text for title in graph.iter(svg + "title")), sep="\n")' "$@"
}

with_commas()
{
	python3 -c 'import sys; print(f"{int(sys.argv[1]):,}")' "$1"
}

for name in two_streams mini_llm torch_step; do
	check_status "$name: --svg" 0 draw $name --svg
	expect "$name: says what it wrote" "[ perf-gpu flamegraph: flamegraph.svg written ]" "$(cat out err)"
	check "$name: is well-formed" svg_titles flamegraph.svg gpu-kernel
	svg_titles flamegraph.svg gpu-kernel >titles
	expect "$name: its root is all of the kernels' time" \
		"all: $(with_commas "$(total_ns "$fixtures/$name/perf.data.gpu")") ns, 100.0 %" \
		"$(sed -n '1s/, [0-9,]* calls*$//p' titles)"
	expect_match "$name: its leaves are kernels" '^\[GPU_Kernel\]' "$(cat titles)"
done
expect_match "colours tell who a frame is of" "^python native api gpu$" \
	"$(for class in python native api gpu; do
		grep -q "<rect class=\"$class\" x=\"[0-9.]*\" y=\"[0-9]*\" width=\"[0-9.]*\" height=\"16\"" \
			flamegraph.svg && echo $class
	done | xargs)"

# svg_label NAME: what is written in the first frame of that name
svg_label()
{
	python3 -c 'import sys, xml.etree.ElementTree as tree
svg = "{http://www.w3.org/2000/svg}"
print(next("".join(text.text for text in frame.findall(svg + "text"))
           for frame in tree.parse("flamegraph.svg").getroot().iter(svg + "g")
           if frame.findtext(svg + "title", "").startswith(sys.argv[1] + ": ")))' "$1"
}

draw mini_llm --svg >/dev/null 2>&1
expect "a wide frame has all of a name, a narrow one what its colour doesn't tell, without parameters" \
	"generate matmul mul… arg…" \
	"$(for name in generate "$matmul" "$attention" "$argmax"; do svg_label "$name"; done | xargs)"
expect "the legend tells the kinds of frames that there are, and no other" \
	"native code CUDA API GPU process" \
	"$(grep -o 'height="12"/><text[^<]*' flamegraph.svg | sed 's/.*>//' | xargs)"
check_status "short names, on standard output" 0 draw mini_llm --svg --names short -o -
expect_match "are there" "<title>\[GPU_Kernel\]matmul:" "$(cat out)"
check_status "labels" 0 draw two_streams --svg --label stream --label-at root -o labels.svg
expect_match "are frames" '^\[stream [0-9]+\]: ' "$(svg_titles labels.svg gpu-kernel)"

# --- the page ---------------------------------------------------------------------------------

# use FILE STEP...: in a browser; what it shows is in ./out
use()
{
	local page=$1
	shift

	timeout 300 python3 "$TESTS/tools/flamegraph_page.py" "$(realpath "$page")" "$@"
}

has_page=yes
check_page()
{
	local name

	for name in two_streams mini_llm torch_step; do
		check_status "$name: a page" 0 draw $name
		expect "$name: says what it wrote" "[ perf-gpu flamegraph: flamegraph.html written ]" "$(cat out err)"
		check_status "$name: opens" 0 use flamegraph.html tip all
		expect "$name: its root is all of the kernels' time, and no one complains" \
			"all | $(with_commas "$(total_ns "$fixtures/$name/perf.data.gpu")") ns, 100.00 %" \
			"$(sed 's/, [0-9,]* calls*$//' out)"
	done
	colours_tell_frames_apart
	expect "it has the licences" "Apache License BSD 3-Clause ISC License" \
		"$(grep -oE 'Apache License|\((ISC|BSD-3-Clause|Apache-2.0)\)' flamegraph.html |
			sort -u | sed 's/(Apache-2.0)//; s/(ISC)/ISC License/; s/(BSD-3-Clause)/BSD 3-Clause/' |
			sort | xargs)"
	expect "it names nothing that a browser would fetch" "" \
		"$(grep -oiE '(src|href) *= *["'"'"'][^"'"'"']*|url\([^)]*|@import' flamegraph.html)"

	draw mini_llm -o llm.html
	labels
	zooming
	searching
	many_stacks
}

# Of torch_step
colours_tell_frames_apart()
{
	check_status "dark and light" 0 use flamegraph.html colour train_step \
		colour "[libc.so.6]" colour cudaLaunchKernelExC dark colour train_step \
		colour "[libc.so.6]" colour cudaLaunchKernelExC
	expect "have six colours for three kinds of frames" 6 "$(sort -u out | wc -l)"
	check_status "a tip of a Python function" 0 use flamegraph.html tip train_step
	expect_match "has its name, and its file for itself" '^train_step \| [^|]*/torch_step\.py \| [0-9,]* ns, ' \
		"$(cat out)"
}

labels()
{
	check_status "labels" 0 use llm.html label generate label "$matmul" label "$argmax" \
		tip "$argmax" search '^.GPU_Kernel.argmax.*float const' marked click "$argmax" label "$argmax"
	expect "of narrow frames are short" "generate matmul argmax" "$(sed -n 1,3p out | xargs)"
	expect_match "but not in tips" "^\[GPU_Kernel\]argmax\(int\*, float const\*, int\) \| " "$(sed -n 4p out)"
	expect "nor for searches, nor where there is room" "$argmax
$argmax" "$(sed -n 5,6p out)"
	about='perf-gpu record -- env -u LD_LIBRARY_PATH LD_LIBRARY_PATH=.* /opt/perf-gpu/workloads/mini_llm -n 4 · vm · 2026-11-29 19:06:48 UTC · NVIDIA H200'
	expect_match "the title has what was recorded, where and when" \
		"^<title>GPU flame graph: $about</title>$" "$(grep '<title>' llm.html)"
	check_status "the page, with scripts" 0 use llm.html eval document.title \
		eval "document.getElementById('about').innerText"
	expect_match "adds the process and the event" "^mini_llm: gpu-kernel · $about$" "$(sed -n 1p out)"
	expect_match "and says so above the graph" "^$about$" "$(sed -n 2p out)"
	expect_match "the picture does, too" "^<title>$about</title>$" "$(cat flamegraph.svg)"
	check_status "elsewhere and at another time" 0 env TZ=Asia/Tokyo "$PERF_GPU" flamegraph \
		-i "$fixtures/mini_llm/perf.data" --symfs "$fixtures/mini_llm/symfs" -o again.html
	check "the page is the same" cmp llm.html again.html
	check_status "the legend" 0 use llm.html eval "document.getElementById('legend').innerText" \
		eval "dispatchEvent(new KeyboardEvent('keydown', { key: 'f', ctrlKey: true })),
			document.activeElement.id"
	expect "tells the kinds of frames that there are, and no other; Ctrl-F goes to the search" \
		"native code CUDA API GPU process search" "$(xargs <out)"
	check_status "labels of templates" 0 use flamegraph.html eval "[...document.querySelectorAll('g.frame')]
		.filter(frame => frame.getAttribute('name').includes('vectorized_layer_norm_kernel<'))
		.map(frame => frame.querySelector('.d3-flame-graph-label').textContent)[0]"
	expect "have neither arguments nor scopes" vectorized_layer_norm_kernel "$(cat out)"
}

# It was 39.61 % of a wider picture.
zooming()
{
	check_status "zooming" 0 use llm.html width attention click attention width attention \
		tip matmul tip generate click main width main width attention click feed_forward \
		reset width attention
	expect "a click makes a frame as wide as the picture, one below it or the button undo it" \
		"39.61 100.00 100.00 39.61 39.61" "$(grep -v '|' out | xargs)"
	expect_match "a tip has ns, share, calls and the share of the zoom" \
		'^matmul \| .*/mini_llm \| 1,710,[0-9]{3} ns, 23.[0-9]* %, 448 calls \| 58.[0-9]* % of what is zoomed to$' \
		"$(cat out)"
	expect_match "and what isn't in the zoom has none" '^generate .* 1,920 calls$' "$(cat out)"
}

searching()
{
	check_status "searching" 0 use llm.html search '^matmul$' marked status search MatMul marked \
		search 'f[' marked status search '' marked status click feed_forward search '^matmul' marked
	expect "marks what matches, and tells its sum" "matmul
found: $(svg_sum '[GPU_Kernel]matmul') ns" "$(sed -n '1p; 2s/.*\(found: [0-9,]* ns\).*/\1/p' out)"
	expect "in any case of letters" "[GPU_Kernel]matmul(float*, __nv_bfloat16 const*, float const*, int, int) matmul" \
		"$(sed -n 3p out)"
	expect_match "an expression that is none is a text" 'found: 0 ns' "$(sed -n 5p out)"
	expect_no_match "no search, nothing found" found "$(sed -n 7p out)"
	expect "is kept in a zoom" "matmul" "$(sed -n 8p out)"
}

# svg_sum NAME: ns of all kernels of that name, by the reader that isn't ours
svg_sum()
{
	with_commas "$(python3 "$TESTS/workloads/gpu_log.py" "$fixtures/mini_llm/perf.data.gpu" |
		awk '/matmul/ { sum += $(NF - 1) } END { print sum }')"
}

# 2.5 million nodes, of which no more than a browser can take are drawn
many_stacks()
{
	python3 "$TESTS/tools/flamegraph_many.py" llm.html many.html 100000 >total
	check_status "100,000 distinct stacks: opened, zoomed and searched in a minute of CPU time" 0 \
		use many.html tip all frames click function_8 width function_8 frames search k17 status \
		time 60000
	expect "all of their time is there" "all | $(with_commas "$(cat total)") ns, 100.00 %" \
		"$(sed -n '1s/, [0-9,]* calls$//p' out)"
	expect "no more is drawn than can be seen" "yes 100.00 yes" \
		"$(sed -n '2,4p' out | awk '$1 > 5000 { print "no" } $1 > 100 && $1 <= 5000 { print "yes" } $1 <= 100' | xargs)"
	expect_match "and the page says so" "what is narrower than [0-9.]* px isn't drawn" "$(sed -n 5p out)"
}

if "$PERF_GPU" flamegraph -i "$fixtures/mini_llm/perf.data" >out 2>err; then
	if has chromium; then
		check_page
	else
		has_page=""
		skip_one "the page" "need chromium: $(why_not chromium)"
	fi
else
	has_page=""
	expect_match "without npm there is no page, which is said" \
		"^perf-gpu flamegraph: no page can be written: npm .* draw a picture with --svg$" "$(cat err)"
	skip_one "the page" "need npm: perf-gpu was built without it"
fi

# What a build without npm has, and one that npm brings nothing to
page_sources=$TESTS/../scripts/build-flamegraph-page.sh
check "building without npm" env NPM= NODE= "$page_sources" build no.h
expect_match "leaves word of it" 'FLAMEGRAPH_NO_PAGE "npm wasn.t there' "$(cat no.h)"
check_status "building without a network" 0 env NPM=false NODE=false "$page_sources" build no.h
expect_match "leaves word of it" "FLAMEGRAPH_NO_PAGE \"npm couldn't bring" "$(cat no.h)"
expect_match "and says so" "will only draw with --svg: npm ci failed, see .*/build/npm.log" "$(cat err)"

# --- what goes wrong -----------------------------------------------------------------------

cp "$fixtures/mini_llm"/perf.data* .
check_status "the recording as output" 1 "$PERF_GPU" flamegraph --svg -o perf.data.gpu
expect_match "is refused" "perf.data.gpu is what is read" "$(cat err)"
check_status "an event that wasn't recorded" 1 "$PERF_GPU" flamegraph --svg -e gpu-alloc -o no.svg
check_status "a folder as output" 1 "$PERF_GPU" flamegraph --svg -o .
check_status "a folder that isn't there" 1 "$PERF_GPU" flamegraph --svg -o no/flame.svg
expect_match "is named" "cannot make no/flame.svg: No such file" "$(cat err)"
check_status "an argument" 129 "$PERF_GPU" flamegraph --svg perf.data
expect "a failure leaves nothing" "" "$(ls no.svg* 2>/dev/null)"

# --- --differential ------------------------------------------------------------------------

check_status "a recording compared with itself" 0 draw mini_llm --svg -o same.svg \
	--differential "$fixtures/mini_llm/perf.data"
expect "has no change" "change5" \
	"$(sed 's/.*<g id=//' same.svg | grep -o '<g>.*class="change[0-9]*' | sed 's/.*"//' | sort -u)"
expect_match "and all of both" ": 7,400,616 ns, 2,230 calls; before: 7,400,616 ns<" "$(cat same.svg)"
check_status "two recordings" 0 draw mini_llm --svg -o differ.svg \
	--differential "$fixtures/two_streams/perf.data"
expect_match "have nothing in common" \
	"^mini_llm: 7,400,616 ns, 100.0 %, 2,230 calls; before: 0 ns, 0.0 %, change: \+7,400,616 ns$" \
	"$(svg_titles differ.svg gpu-kernel)"
check_status "one that isn't there" 1 draw mini_llm --svg -o no.svg --differential no.data
expect_match "is named" "no.data" "$(cat err)"
check_status "one as output" 1 "$PERF_GPU" flamegraph --svg -i "$fixtures/two_streams/perf.data" \
	-o perf.data --differential perf.data
expect_match "is refused" "perf.data is what is read" "$(cat err)"

# In the same program, kernels take twice the time, and another function launches them.
differ()
{
	local file
	echo 'plain 3000' >before.ns
	echo 'plain 6000' >now.ns
	for file in before now; do
		PLAIN_KERNEL_NAME=plain FAKE_CUDA_DURATIONS=$file.ns check "what is ${file} is recorded" run_fake "$PERF_GPU" record \
			-q --stacks process -o $file.data "$WORKLOADS/launches" -n 10
	done
	PLAIN_KERNEL_NAME=gone check "and what is gone" run_fake "$PERF_GPU" record -q \
		--stacks process -o gone.data "$WORKLOADS/launches" -n 10
	now_ns=$(total_ns now.data.gpu) before_ns=$(total_ns before.data.gpu)
	check_status "a picture of two recordings" 0 "$PERF_GPU" flamegraph --svg -i now.data \
		--differential before.data
	expect "has both sums" "all: $(with_commas "$now_ns") ns, 100.0 %, 10 calls; before: $(with_commas \
		"$before_ns") ns, 100.0 %, change: +$(with_commas $((now_ns - before_ns))) ns" \
		"$(svg_titles flamegraph.svg gpu-kernel | head -n 1)"
	expect "of its kernels, colours tell that their share is the same" change5 \
		"$(grep 'Kernel\]plain: ' flamegraph.svg | grep -o 'class="change[0-9]*' | cut -d '"' -f 2)"
	if [ -z "$has_page" ]; then
		skip_one "a page of two recordings" "need chromium and npm"
		return
	fi
	check_status "a page of them" 0 "$PERF_GPU" flamegraph -i now.data --differential before.data
	check_status "opens" 0 use flamegraph.html colour "[GPU_Kernel]plain" \
		eval "document.getElementById('shares').click()" colour "[GPU_Kernel]plain" \
		eval "document.getElementById('legend').innerText"
	expect "compares shares, which are the same, and sums, if these are to be seen" \
		"grey None red less than before as before more than before" \
		"$(sed -E '1s/^color\(srgb 0\.894[0-9]* 0\.894[0-9]* 0\.894.*/grey/; 3s/^color\(srgb 0\.9[0-9]* 0\.6.*/red/' out | xargs)"
	check_status "a page of two recordings" 0 "$PERF_GPU" flamegraph -i now.data \
		--differential gone.data
	check_status "opens" 0 use flamegraph.html tip "[GPU_Kernel]plain" \
		colour "[GPU_Kernel]plain" select widths before tip "[GPU_Kernel]gone" \
		colour "[GPU_Kernel]gone" select colours "kind of frame" colour "[GPU_Kernel]gone"
	expect "what is new is red, what is gone blue, unless kinds are to be seen" \
		"rgb(240, 82, 61) rgb(74, 144, 226) rgb(140, 203, 98)" \
		"$(sed -nE 's/color\(srgb ([0-9.]*) ([0-9.]*) ([0-9.]*)\)/\1 \2 \3/; /^\[/!p' out |
			awk '/^rgb/ { print; next } { printf "rgb(%.0f, %.0f, %.0f)\n", 255 * $1, 255 * $2, 255 * $3 }' |
			xargs)"
	expect_match "what is new" "^\[GPU_Kernel\]plain .*, 100.00 %, 10 calls \| before: 0 ns, 0.00 %, 0 calls \| change: \+$(with_commas "$now_ns") ns$" "$(cat out)"
	expect_match "what is gone" "^\[GPU_Kernel\]gone .* \| now: 0 ns, 0.00 %, 0 calls \| change: −[0-9,]* ns \(−100.00 %\)$" "$(cat out)"
	expect "no one complains" 5 "$(wc -l <out)"
}
if has fake_cuda && has root; then
	differ
else
	skip_one "two recordings of a program" "need root and fake_cuda"
fi

# --- names from outside ----------------------------------------------------------------------

# Of two GPUs, and with a name that would run a script if it could
hostile_page()
{
	check_status "a page of it" 0 "$PERF_GPU" flamegraph -i hostile.data
	expect "has the scripts that it is to have" 2 "$(grep -oi '</script' flamegraph.html | wc -l)"
	check_status "it opens" 0 use flamegraph.html eval window.hostile \
		eval 'document.images.length + document.scripts.length' tip "[GPU_Kernel]$hostile" \
		search hostile marked select event gpu-launch status \
		eval document.title eval "document.getElementById('about').innerText"
	expect "nothing of the name was run" "None 2" "$(sed -n 1,2p out | xargs)"
	expect "it is there as it is" "[GPU_Kernel]$hostile" "$(sed -n 3p out | sed 's/ | [0-9,]* ns.*//')"
	expect "and is found" "[GPU_Kernel]$hostile" "$(sed -n 4p out)"
	expect_match "another event is chosen" "^gpu-launch: [0-9,]* ns, 10 calls" "$(sed -n 5p out)"
	expect "the command that was recorded is in the title, and above the graph, as it is" 2 \
		"$(grep -cF "perf-gpu record -q --stacks process -e +gpu-launch -o hostile.data env 'NAME=${hostile//\'/\'\\\'\'}' " out)"
	expect "no one complains" 7 "$(wc -l <out)"
}

hostile='</script><script>window.hostile=1</script><img src=x onerror=window.hostile=1>&"'"'"
if has fake_cuda && has root; then
	PLAIN_KERNEL_NAME=$hostile check "a kernel with a hostile name is recorded" run_fake \
		"$PERF_GPU" record -q --stacks process -e +gpu-launch -o hostile.data \
		env "NAME=$hostile" "$WORKLOADS/launches" -n 10
	check_status "and drawn" 0 "$PERF_GPU" flamegraph --svg -i hostile.data
	expect_match "under its name" "^\[GPU_Kernel\]${hostile//[\[\]]/.}: " \
		"$(svg_titles flamegraph.svg gpu-kernel)"
	expect "each event has a graph" "gpu-kernel gpu-launch" \
		"$(grep -o '<g id="[^"]*' flamegraph.svg | cut -d '"' -f 2 | xargs)"
	check_status "one of them" 0 "$PERF_GPU" flamegraph --svg -i hostile.data -e gpu-launch
	expect "is alone" "gpu-launch" "$(grep -o '<g id="[^"]*' flamegraph.svg | cut -d '"' -f 2)"
	[ -z "$has_page" ] || hostile_page
	expect_match "with its leaves" '^\[GPU_Launch\]cu.*LaunchKernel.*10 calls$' \
		"$(svg_titles flamegraph.svg gpu-launch)"
else
	skip_one "a kernel with a hostile name" "need root and fake_cuda"
fi

# --- several GPUs ------------------------------------------------------------------------------

if has fake_cuda && has nvcc && has root && [ -n "$has_page" ]; then
	check "two processes on two GPUs are recorded" run_fake env FAKE_CUDA_DEVICES=2 "$PERF_GPU" \
		record -q --stacks process -o two.data -- bash -c \
		'CUDA_VISIBLE_DEVICES=0 "$1" -n 10; CUDA_VISIBLE_DEVICES=1 "$1" -n 30' - \
		"$WORKLOADS/launches"
	check_status "and drawn" 0 "$PERF_GPU" flamegraph -i two.data
	check_status "in a page" 0 use flamegraph.html status select device "0 (Fake GPU)" status \
		select device "1 (Fake GPU)" status select device all status
	expect "that can choose each" "10 30 40 40" "$(sed 's/.* \([0-9]*\) calls.*/\1/' out | sort | xargs)"
else
	skip_one "several GPUs" "need nvcc, root, fake_cuda and the page"
fi

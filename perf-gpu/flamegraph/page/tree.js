// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The recording, as flamegraph/page.c writes it:
 *
 *   about    [text, text]: what was recorded, where and when, by recording; may be empty
 *   names    [text, class], [text, class, file] or [text, class, file, short], ...; file
 *            may be empty, short is the text without arguments and "[GPU_Kernel]"
 *   nodes    name of node 0, its parent (-1: none), name of node 1, ...; parents come first
 *   weights  node, event, device (-1: none), recording, calls, period, ...
 *   devices  [number, name], ...: those whose names are known
 *   events   {id, name, unit}, ...: those that were asked for
 *
 * Arrays of numbers throughout: a million nodes are no trouble. Sums are exact up to 2^53.
 */
export const ALL_DEVICES = -2;
export const NEW = 0;
export const OLD = 1;

const WEIGHT_FIELDS = 6;
const ROOT_CLASS = 5;

export class Tree {
	constructor(data) {
		const nrNodes = data.nodes.length / 2;

		this.names = data.names;
		this.events = data.events;
		this.about = data.about ?? [];
		this.isDifferential = data.differential;
		this.weights = Float64Array.from(data.weights);
		this.nrNodes = nrNodes;
		this.nameIds = new Int32Array(nrNodes);
		this.parents = new Int32Array(nrNodes);
		for (let i = 0; i < nrNodes; i++) {
			this.nameIds[i] = data.nodes[2 * i];
			this.parents[i] = data.nodes[2 * i + 1];
		}
		this.deviceNames = new Map(data.devices);
		this.devices = this.findDevices();
		this.processes = [...new Set(this.names.filter((name) => name[1] === ROOT_CLASS).map((name) => name[0]))];
		this.orderChildren();
	}

	findDevices() {
		const devices = new Set();

		for (let i = 0; i < this.weights.length; i += WEIGHT_FIELDS)
			devices.add(this.weights[i + 2]);
		return [...devices].sort((a, b) => a - b);
	}

	/*
	 * The children of node i are children[starts[i + 1]] to children[starts[i + 2] - 1], by
	 * name; those of -1 are the roots. Sorted by counting: first all nodes by name, then, in
	 * this order, each to its parent.
	 */
	orderChildren() {
		const byName = this.names.map((_, i) => i)
			.sort((a, b) => (this.names[a][0] < this.names[b][0] ? -1 : a === b ? 0 : 1));
		const ranks = new Int32Array(byName.length);

		byName.forEach((id, rank) => {
			ranks[id] = rank;
		});
		const sorted = distribute(this.nrNodes, byName.length, (i) => i, (i) => ranks[this.nameIds[i]]);
		const ends = distribute(this.nrNodes, this.nrNodes + 1, (i) => sorted.items[i],
			(i) => this.parents[i] + 1);

		this.children = ends.items;
		this.starts = ends.starts;
	}

	textOf(node) {
		return this.names[this.nameIds[node]][0];
	}

	classOf(node) {
		return this.names[this.nameIds[node]][1];
	}

	fileOf(node) {
		return this.names[this.nameIds[node]][2] || '';
	}

	shortOf(node) {
		return this.names[this.nameIds[node]][3] || '';
	}

	parentOf(node) {
		return this.parents[node];
	}

	/* What an event comes to on a device in a recording: periods and calls by node, and of all */
	sum(event, device, recording) {
		const { weights, parents } = this;
		const sums = {
			periods: new Float64Array(this.nrNodes),
			nrs: new Float64Array(this.nrNodes),
			period: 0,
			nr: 0,
		};

		for (let i = 0; i < weights.length; i += WEIGHT_FIELDS) {
			if (weights[i + 1] !== event || weights[i + 3] !== recording ||
			    (device !== ALL_DEVICES && weights[i + 2] !== device))
				continue;
			sums.nrs[weights[i]] += weights[i + 4];
			sums.periods[weights[i]] += weights[i + 5];
		}
		for (let i = this.nrNodes - 1; i >= 0; i--) {
			if (parents[i] < 0) {
				sums.period += sums.periods[i];
				sums.nr += sums.nrs[i];
			} else {
				sums.periods[parents[i]] += sums.periods[i];
				sums.nrs[parents[i]] += sums.nrs[i];
			}
		}
		return sums;
	}

	/* Nodes from focus (-1: all) on that come to at least so much, callers first; are those all? */
	atLeast(sums, focus, period) {
		const nodes = [focus];
		let isCut = false;

		for (let i = 0; i < nodes.length; i++) {
			const node = nodes[i];

			for (let k = this.starts[node + 1]; k < this.starts[node + 2]; k++) {
				const child = this.children[k];

				if (sums.periods[child] >= period)
					nodes.push(child);
				else if (sums.periods[child])
					isCut = true;
			}
		}
		return { nodes, isCut };
	}

	/*
	 * What is drawn of focus in so many pixels: what is half a pixel wide or more, or, if
	 * that is more than maxFrames, what is wider.
	 */
	visible(sums, focus, pixels, maxFrames) {
		const whole = focus < 0 ? sums.period : sums.periods[focus];

		for (let minPixels = 0.5; ; minPixels *= 2) {
			const period = Math.max(whole * minPixels / pixels, Number.MIN_VALUE);
			const { nodes, isCut } = this.atLeast(sums, focus, period);

			if (nodes.length <= maxFrames || minPixels > pixels)
				return { nodes, isCut, minPixels };
		}
	}

	/* By name: 1 if a regular expression is in it. One that is none is taken as it is. */
	match(term) {
		let expression;

		try {
			expression = new RegExp(term, 'i');
		} catch {
			expression = new RegExp(term.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'), 'i');
		}
		return Uint8Array.from(this.names, (name) => (expression.test(name[0]) ? 1 : 0));
	}

	/* What is in frames that match; what is in several of one stack is counted once. */
	sumOfMatches(sums, matches) {
		const isInside = new Uint8Array(this.nrNodes);
		let period = 0, nr = 0;

		for (let i = 0; i < this.nrNodes; i++) {
			const parent = this.parents[i];

			isInside[i] = parent >= 0 ? isInside[parent] : 0;
			if (!isInside[i] && matches[this.nameIds[i]]) {
				isInside[i] = 1;
				period += sums.periods[i];
				nr += sums.nrs[i];
			}
		}
		return { period, nr };
	}
}

/*
 * Sort nr items into nrBuckets, those of a bucket as they come: item(0) to item(nr - 1), each
 * into bucketOf(item). Those of bucket b are items[starts[b]] to items[starts[b + 1] - 1].
 */
function distribute(nr, nrBuckets, item, bucketOf) {
	const starts = new Int32Array(nrBuckets + 2);
	const items = new Int32Array(nr);

	for (let i = 0; i < nr; i++)
		starts[bucketOf(item(i)) + 2]++;
	for (let b = 2; b < starts.length; b++)
		starts[b] += starts[b - 1];
	for (let i = 0; i < nr; i++)
		items[starts[bucketOf(item(i)) + 1]++] = item(i);
	return { items, starts };
}

/* The predictor of docs/model-format.md in JavaScript: from a row of cells to features, scores, label and probabilities.
 *
 * `abnet.predictor(record)` takes what `abnet.export.js_model.js_record` wrote. It needs no library, makes no request
 * and keeps no state. Sums are in double precision, features are rounded to single precision as in training.
 */
"use strict";

const abnet = (() => {
  const CLIP = 1e6, LARGEST = 1e150, YEAR = 365.2425, ERF_END = 6;
  /* exp(z²) erfc(z) on [0, 6] as a polynomial of u, where 2/(2 + z) = 1/4 + 3/8 (u + 1). */
  const ERF_SERIES = [
    0.3785374169292397, 0.42218758361344777, 0.16940759095449764, 0.0329934294778909, -0.0016702444046923937,
    -0.0016653643667956324, 0.00013358426953576807, 0.00010054189868280341, -2.2700159899704513e-05,
    -4.271117396357692e-06, 2.838143104316882e-06, -2.823393880271042e-07, -1.9838585196813037e-07,
    8.64694333890086e-08, -6.513118485109626e-09, -7.352472518437774e-09, 3.3658288322023846e-09,
    -2.776307855150726e-10, -2.9766387405215563e-10, 9.395932046122793e-11, -7.106929108334487e-13,
  ];
  /* What Python calls white space. */
  const BLANKS = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";
  const AROUND = new RegExp(`^${BLANKS}|${BLANKS}$`, "g");
  const BETWEEN = new RegExp(BLANKS, "g"), DIGIT = /\p{Nd}/gu;
  const WORD = /[\p{L}\p{Nl}\p{No}]{2,}/gu;

  function erf(x) {
    const z = Math.min(Math.abs(x), ERF_END), u = (8 / 3) * (2 / (2 + z)) - 5 / 3;
    let value = 0;
    for (let k = ERF_SERIES.length - 1; k >= 0; k--) value = value * u + ERF_SERIES[k];
    return Math.sign(x) * (1 - Math.exp(-z * z) * value);
  }

  /* An array of numbers: its bytes in base 64, little-endian, in C order. */
  function unpacked(stored) {
    const text = atob(stored.data), bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    const kinds = { f8: Float64Array, f4: Float32Array };
    return { shape: stored.shape, values: new kinds[stored.dtype](bytes.buffer) };
  }

  function stripped(cell) {
    return String(cell).replace(AROUND, "");
  }

  /* Preparation: a cell is null where it is missing. */

  function numberOf(cell, column) {
    if (cell === null || cell === undefined || cell === "" || Number.isNaN(cell)) return NaN;
    const offset = column.form ? column.form.offset : "0";
    let x;
    if (offset === "0") x = Number(cell);
    else if (typeof cell === "string" && /^[+-]?\d+$/.test(cell)) x = Number(BigInt(cell.replace("+", "")) - BigInt(offset));
    else x = Number(cell) - Number(offset);
    return Math.abs(x) <= LARGEST ? x : NaN; /* a cell that cannot be read counts as missing */
  }

  function scaled(x, column) {
    const v = ((Number.isNaN(x) ? column.fill : x) - column.mean) / column.scale;
    return Math.min(Math.max(v, -CLIP), CLIP);
  }

  function truth(cell) {
    const sign = { true: 1, yes: 1, 1: 1, false: -1, no: -1, 0: -1 };
    const key = cell === null || cell === undefined ? "" : stripped(cell).toLowerCase();
    return Object.hasOwn(sign, key) ? sign[key] : 0;
  }

  function folded(text, folds) {
    let out = "";
    for (const letter of text) out += Object.hasOwn(folds, letter) ? folds[letter] : letter.toLowerCase();
    return out;
  }

  function columnFeatures(column, cell, model, out) {
    if (column.kind === "numeric" || column.kind === "date") {
      const x = numberOf(cell, column), gap = Number.isNaN(x);
      if (column.scale !== null) out.push(scaled(x, column));
      if (column.kind === "date" && column.season) {
        const turn = 2 * Math.PI * (x / YEAR);
        out.push(gap ? 0 : Math.sin(turn), gap ? 0 : Math.cos(turn));
      }
      if (column.indicator) out.push(gap ? 1 : 0);
      return;
    }
    if (column.kind === "boolean") {
      const sign = truth(cell);
      out.push(sign);
      if (column.indicator) out.push(sign === 0 ? 1 : 0);
      return;
    }
    const text = cell === null || cell === undefined ? "" : stripped(cell);
    const blank = model.blank.has(text.toLowerCase()), start = out.length;
    if (column.kind === "text") {
      const n = column.categories.length, rare = column.rare === null || column.rare.length > 0;
      const width = n + (rare ? 1 : 0) + (column.missing ? 1 : 0), other = rare ? n : -1;
      let place = column.categories.indexOf(text);
      if (blank) place = column.missing ? width - 1 : other;
      else if (place < 0) place = other;
      for (let i = 0; i < width; i++) out.push(start + i === start + place ? 1 : 0);
      return;
    }
    if (column.kind === "hashed") {
      const filled = new Set(blank ? [] : tokens(folded(text, model.folds)).map((token) => crc32(token) % column.buckets));
      for (let i = 0; i < column.buckets; i++) out.push(filled.has(i) ? 1 : 0);
    } else {
      const words = new Set(blank ? [] : folded(text, model.folds).match(WORD) || []);
      for (const word of column.words) out.push(words.has(word) ? 1 : 0);
    }
    if (column.missing) out.push(blank ? 1 : 0);
  }

  /* Words and triples of characters of a folded text, its blanks made one space each and its digits 0. */
  function tokens(text) {
    const plain = text.replace(BETWEEN, " ").replace(DIGIT, "0"), characters = [" ", ...plain, " "];
    return (plain.match(WORD) || []).concat(characters.slice(2).map((_, i) => characters.slice(i, i + 3).join("")));
  }

  /* As zlib has it, of the bytes in UTF-8. */
  function crc32(text) {
    let crc = -1;
    for (const byte of new TextEncoder().encode(text)) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc >>> 0;
  }

  function prepared(record, row, model) {
    if (record !== null && record.kind === "table") {
      const out = [];
      record.columns.forEach((column, i) => columnFeatures(column, row[i], model, out));
      return out;
    }
    if (record !== null && record.kind === "coded") {
      const base = prepared(record.base, row, model).map(Math.fround), out = base.slice();
      record.thresholds.forEach((list, j) => list.forEach((t) => out.push(base[j] >= t ? 1 : -1)));
      return out;
    }
    const x = Array.from(row, (cell, i) => {
      const value = numberOf(cell, { name: model.columns[i].name });
      if (Number.isNaN(value)) throw new Error(`${model.columns[i].name}: this model has no rule for a cell that is missing or not a number`);
      return value;
    });
    if (record === null) return x;
    if (record.kind === "standard") return x.map((v, i) => (v - record.mean[i]) / record.scale[i]);
    if (record.kind === "minmax") {
      const [low, high] = record.limits !== null ? record.limits : [-Infinity, Infinity];
      return x.map((v, i) => Math.min(Math.max(v * record.scale[i] + record.shift[i], low), high));
    }
    const out = [];
    record.thresholds.forEach((list, j) => list.forEach((t) => out.push(x[j] >= t ? 1 : -1)));
    return out;
  }

  /* Networks. Of the first layer they read the sums W x of all units of all members, and ‖x‖² behind them: both are sums
   * over the inputs, so that rows put together from parts need no more than their sums added. */

  function firstSums(first, x) {
    const units = first.b.values.length, n = x.length, W = first.W.values, out = new Float64Array(units + 1);
    for (let u = 0, k = 0; u < units; u++) {
      let total = 0;
      for (let j = 0; j < n; j++, k++) total += W[k] * x[j];
      out[u] = total;
    }
    for (let j = 0; j < n; j++) out[units] += x[j] * x[j];
    return out;
  }

  /* The same for the inputs of each of J columns alone; `owners` says whose each input is. */
  function columnSums(first, x, owners, J) {
    const units = first.b.values.length, n = x.length, W = first.W.values;
    const out = Array.from({ length: J }, () => new Float64Array(units + 1));
    for (let j = 0; j < n; j++) {
      const value = x[j], into = out[owners[j]];
      if (value === 0) continue;
      for (let u = 0, k = j; u < units; u++, k += n) into[u] += W[k] * value;
      into[units] += value * value;
    }
    return out;
  }

  /* (W x + b)/sqrt(2(‖x‖² + 1)), the argument of the mean output erf(t) of every unit of a member. */
  function leading(first, member, sums) {
    const b = first.b.values, units = first.b.shape.at(-1), at = member * units, t = new Float64Array(units);
    const root = Math.sqrt(2 * (Math.max(sums[b.length], 0) + 1));
    if (!Number.isFinite(root)) throw new Error("a number of this row is too large");
    for (let i = 0; i < units; i++) t[i] = (sums[at + i] + b[at + i]) / root;
    return t;
  }

  function firstSigns(first, sums) {
    return first.b.values.map((b, u) => (sums[u] + b >= 0 ? 1 : -1));
  }

  /* W s + b of the units of a layer above the first, of one member. */
  function weighted(layer, member, s) {
    const [units, n] = layer.W.shape.slice(-2), W = layer.W.values, b = layer.b.values;
    const z = new Float64Array(units), at = member * units;
    for (let i = 0; i < units; i++) {
      let total = 0;
      for (let j = 0, k = (at + i) * n; j < n; j++, k++) total += W[k] * s[j];
      z[i] = total + b[at + i];
    }
    return z;
  }

  /* Σ_s H[s] Π_i (1 + s_i m_i)/2 for each of C columns: the last unit, whose sign changes fastest, is folded first. */
  function multilinear(table, start, C, m) {
    let now = table.subarray(start, start + 2 ** m.length * C);
    for (let i = m.length - 1; i >= 0; i--) {
      const high = (1 + m[i]) / 2, low = (1 - m[i]) / 2, half = now.length / (2 * C), next = new Float64Array(half * C);
      for (let k = 0; k < half; k++)
        for (let c = 0; c < C; c++) next[k * C + c] = low * now[2 * k * C + c] + high * now[(2 * k + 1) * C + c];
      now = next;
    }
    return now;
  }

  const networks = {
    /* Exact votes: mean over the members of their tables. */
    table(net, sums) {
      const members = net.H.shape[0], C = net.H.shape[2], size = net.H.shape[1] * C, total = new Float64Array(C);
      for (let m = 0; m < members; m++) {
        const found = multilinear(net.H.values, m * size, C, leading(net.first, m, sums).map(erf));
        for (let c = 0; c < C; c++) total[c] += found[c];
      }
      return Array.from(total, (value) => value / members);
    },
    /* Every neuron reads independent signs: its mean output by a table of their corners, or by a series. */
    pbgnet(net, sums) {
      const members = net.first.b.shape[0];
      let total = 0;
      for (let member = 0; member < members; member++) {
        let m = leading(net.first, member, sums).map(erf);
        for (const layer of net.means) m = layer.table ? tableMeans(layer.table, member, m) : seriesMeans(layer, member, m);
        total += m[0];
      }
      return [total / members];
    },
    signs(net, sums, K) {
      let s = firstSigns(net.first, sums);
      for (const layer of net.above) s = weighted(layer, 0, s).map((z) => (z >= 0 ? 1 : -1));
      if (!net.decode) return [s[0]];
      const place = s.reduce((number, sign) => 2 * number + (sign > 0 ? 1 : 0), 0);
      return Array.from({ length: K }, (_, k) => (net.decode[place] === k ? 1 : 0));
    },
    /* Mean outputs layer by layer, by means and variances; several classes: the outputs' probabilities, decoded. */
    moments(net, sums, classes) {
      const members = net.first.b.shape[0], K = net.decode ? classes : 1, total = new Float64Array(K);
      const joint = new Float64Array(net.decode ? net.decode.length : 0);
      for (let m = 0; m < members; m++) {
        let v = leading(net.first, m, sums).map(erf);
        for (const layer of net.above) v = standardised(layer, m, v, net.e).map((z) => erf(z * Math.SQRT1_2));
        if (K === 1) total[0] += v[0];
        else addCorners(v, joint);
      }
      joint.forEach((p, place) => { total[net.decode[place]] += p; });
      return Array.from(total, (value) => value / members);
    },
    /* Paths s_k = sgn(z_k + ε_k) with kept ε; several classes: the outputs' probabilities, decoded. */
    paths(net, sums, classes) {
      const members = net.first.b.shape[0], T = net.noise[0].shape[1], K = net.decode ? classes : 1;
      const total = new Float64Array(K), depth = net.above.length, joint = new Float64Array(net.decode ? net.decode.length : 0);
      for (let m = 0; m < members; m++) {
        const first = leading(net.first, m, sums).map((t) => t * Math.SQRT2);
        for (let t = 0; t < T; t++) {
          let z = first;
          for (let k = 0; k < depth; k++) {
            const eps = net.noise[k].values, d = z.length, at = (m * T + t) * d, root = Math.sqrt(d + 1);
            const s = z.map((value, i) => (value + eps[at + i] >= 0 ? 1 : -1));
            z = weighted(net.above[k], m, s).map((value) => value / root);
          }
          const out = z.map((value) => erf(value * Math.SQRT1_2));
          if (K === 1) total[0] += out[0];
          else addCorners(out, joint);
        }
      }
      joint.forEach((p, place) => { total[net.decode[place]] += p; });
      return Array.from(total, (value) => value / (members * T));
    },
  };

  function tableMeans(table, member, m) {
    const units = table.shape[2];
    return multilinear(table.values, member * table.shape[1] * units, units, m);
  }

  /* Σ_k P_k Im(z_k) + Q_k Re(z_k) for every neuron, z_k = Π_j (cos_jk + i m_j sin_jk); where the mean c + v·m is at least
   * as large as its limit, its sign. */
  function seriesMeans(layer, member, m) {
    const [, units, d, N] = layer.cosines.shape, means = new Float64Array(units);
    const cosines = layer.cosines.values, sines = layer.sines.values;
    for (let u = 0; u < units; u++) {
      const at = member * units + u;
      let mean = layer.c.values[at], total = 0;
      for (let j = 0; j < d; j++) mean += layer.v.values[at * d + j] * m[j];
      for (let k = 0; k < N; k++) {
        let re = 1, im = 0;
        for (let j = 0, i = at * d * N + k; j < d; j++, i += N) {
          const c = cosines[i], s = m[j] * sines[i], next = re * c - im * s;
          im = re * s + im * c;
          re = next;
        }
        total += layer.P.values[at * N + k] * im + layer.Q.values[at * N + k] * re;
      }
      if (Math.abs(mean) >= layer.limits.values[at]) means[u] = Math.sign(mean);
      else means[u] = Math.min(Math.max(total, -1), 1);
    }
    return means;
  }

  /* z = (W v + b)/s of a layer of one member whose inputs are signs with means v; s² is the variance of the sum. */
  function standardised(layer, member, v, e) {
    const [units, n] = layer.W.shape.slice(-2), W = layer.W.values, b = layer.b.values;
    const z = new Float64Array(units), at = member * units;
    for (let i = 0; i < units; i++) {
      let total = 0, spread = 0;
      for (let j = 0, k = (at + i) * n; j < n; j++, k++) {
        total += W[k] * v[j];
        spread += W[k] * W[k] * (1 - v[j] * v[j]);
      }
      z[i] = (total + b[at + i]) / Math.sqrt(n + 1 + e + spread);
    }
    return z;
  }

  /* Probabilities of the corners of a cube whose coordinates are independent with these means. */
  function corners(means) {
    let p = [1];
    for (const m of means) p = p.flatMap((q) => [(q * (1 - m)) / 2, (q * (1 + m)) / 2]);
    return p;
  }

  /* Adds the probability of each output corner: a product of those of two halves. Decoded when all paths are added. */
  function addCorners(means, joint) {
    const half = means.length >> 1, low = corners(means.slice(0, half)), high = corners(means.slice(half));
    for (let i = 0, k = 0; i < low.length; i++) for (let j = 0; j < high.length; j++, k++) joint[k] += low[i] * high[j];
  }

  /* A network of signs puts a row in one region, with certainty. */
  function certain(net, sums, K) {
    const word = Array.from(firstSigns(net.first, sums), (s) => (s > 0 ? "+" : "-")).join("");
    const output = networks[net.type](net, sums, K);
    const listed = [{ member: 0, word, probability: 1, output, share: output }];
    return { listed, others: 0, otherProbability: 0, otherShare: output.map(() => 0) };
  }

  function regions(net, sums, most, K) {
    if (net.type === "signs") return certain(net, sums, K);
    if (net.type !== "table") return null;
    const [members, size, C] = net.H.shape, found = [];
    for (let m = 0; m < members; m++) {
      corners(leading(net.first, m, sums).map(erf)).forEach((probability, s) => found.push({ member: m, place: s, probability }));
    }
    const output = (r) => Array.from(net.H.values.subarray((r.member * size + r.place) * C, (r.member * size + r.place + 1) * C));
    found.sort((a, b) => b.probability - a.probability);
    const width = net.first.b.shape[1], listed = found.slice(0, most), rest = found.slice(most), otherShare = Array(C).fill(0);
    let other = 0;
    for (const r of rest) {
      other += r.probability / members;
      output(r).forEach((h, c) => { otherShare[c] += (r.probability * h) / members; });
    }
    return {
      listed: listed.map((r) => ({
        member: r.member, probability: r.probability, output: output(r),
        word: r.place.toString(2).padStart(width, "0").replace(/0/g, "-").replace(/1/g, "+"),
        share: output(r).map((h) => (r.probability * h) / members),
      })),
      others: rest.length, otherProbability: other, otherShare,
    };
  }

  function unpackedNetwork(stored) {
    const net = {};
    for (const [name, part] of Object.entries(stored)) {
      if (part !== null && typeof part === "object" && "dtype" in part) net[name] = unpacked(part);
      else if (name === "first") net.first = { W: unpacked(part.W), b: unpacked(part.b) };
      else if (name === "above") net.above = part.map((layer) => ({ W: unpacked(layer.W), b: unpacked(layer.b) }));
      else if (name === "noise") net[name] = part.map(unpacked);
      else if (name === "means") net.means = part.map(unpackedNetwork);
      else net[name] = part;
    }
    return net;
  }

  function argmax(values) {
    return values.reduce((best, value, k) => (value > values[best] ? k : best), 0);
  }

  /* The class with the least expected cost; the first of those that cost the same. */
  function cheapest({ table, power, floor }, scores) {
    const raised = scores.map((p) => Math.max(p, 0) + floor), largest = Math.max(...raised);
    const totals = table.map(() => 0);
    raised.forEach((p, j) => table[j].forEach((cost, k) => { totals[k] += Math.pow(p / largest, power) * cost; }));
    return totals.reduce((best, total, k) => (total < totals[best] ? k : best), 0);
  }

  function predictor(record) {
    const net = unpackedNetwork(record.network), K = record.classes.length, calibration = record.calibration;
    const model = { columns: record.columns, blank: new Set(record.blank), folds: record.folds };
    const made = {
      columns: record.columns,
      classes: record.classes,
      /* Features in single precision, as the network reads them. */
      features(row) {
        if (row.length !== record.columns.length) throw new Error(`a row has ${record.columns.length} cells`);
        const x = Float64Array.from(prepared(record.preparation, row, model), Math.fround);
        if (!x.every(Number.isFinite)) throw new Error("a number of this row is too large");
        return x;
      },
      /* One score for two classes, or one for each of several. */
      scores: (x) => networks[net.type](net, firstSums(net.first, x), K),
      columnSums: (x, owners, J) => columnSums(net.first, x, owners, J),
      scoresOfSums: (sums) => networks[net.type](net, sums, K),
      shares: (scores) => (K === 2 ? [0.5 - 0.5 * scores[0], 0.5 + 0.5 * scores[0]] : scores),
      probabilities(scores) {
        if (!record.shares) return null;
        const shares = made.shares(scores);
        if (calibration === null) return shares;
        const logits = shares.map((p) => calibration.power * Math.log(Math.max(p, 0) + calibration.floor));
        const top = Math.max(...logits), odds = logits.map((v) => Math.exp(v - top)), sum = odds.reduce((a, b) => a + b);
        return odds.map((v) => v / sum);
      },
      vote: (scores) => (K === 2 ? (scores[0] >= 0 ? 1 : 0) : argmax(scores)),
      /* The code of the answer that the model's decision gives; null where it abstains. */
      decide(scores) {
        const { kind, threshold, positive, costs } = record.decision;
        if (kind === "costs") return cheapest(costs, scores);
        if (kind === "cut") return (positive ? scores[0] : -scores[0]) > threshold ? positive : 1 - positive;
        const sure = K === 2 ? Math.abs(scores[0]) : Math.max(...scores);
        return kind === "abstain" && !(sure > threshold) ? null : made.vote(scores);
      },
      predict(row) {
        const scores = made.scores(made.features(row)), code = made.decide(scores);
        const label = code === null ? null : record.classes[code];
        return { code, label, vote: made.vote(scores), scores, probabilities: made.probabilities(scores) };
      },
      /* The most probable regions of a row, and what the others have together; null for a network without a table. */
      regions: (x, most) => regions(net, firstSums(net.first, x), most, K),
    };
    return made;
  }

  return { predictor, erf };
})();

if (typeof module !== "undefined") module.exports = abnet;

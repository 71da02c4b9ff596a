/* Contributions of the columns to a row's probabilities: Shapley values against background rows (docs/explanation.md).
 *
 * `abnetExplain.steps(model, plan, row)` is a generator, so that a page stays alive while it works: each `yield` is the
 * share that is done. It returns { values, base, contributions, errors }: base + Σ contributions = values, which are the
 * probability of the second of two classes, or of each of several; scores where the model has no probabilities.
 */
"use strict";

const abnetExplain = (() => {
  /* The network's inputs of a background row: rounded, then followed by its codes. */
  function inputs(plan, thresholds, features) {
    const base = features.map(Math.fround), out = base.slice();
    plan.codes.forEach((count, j) => {
      for (let k = 0; k < count; k++) out.push(base[j] >= thresholds[j][k] ? 1 : -1);
    });
    return Float64Array.from(out);
  }

  function inputOwners(plan) {
    const out = plan.owners.slice();
    plan.codes.forEach((count, j) => { for (let k = 0; k < count; k++) out.push(plan.owners[j]); });
    return out;
  }

  function plus(a, b) {
    return a.map((value, i) => value + b[i]);
  }

  function binomial(n, k) {
    let out = 1;
    for (let i = 1; i <= k; i++) out = (out * (n - k + i)) / i;
    return out;
  }

  /* φ_j = Σ_{S without j} (v(S + j) - v(S)) / (k C(k-1, |S|)); coalitions as binary numbers. */
  function exactValues(v, k, C) {
    const out = Array.from({ length: k }, () => new Float64Array(C));
    const weight = Array.from({ length: k }, (_, size) => 1 / (k * binomial(k - 1, size)));
    for (let S = 0; S < v.length; S++) {
      let size = 0;
      for (let bits = S; bits; bits &= bits - 1) size++;
      for (let j = 0; j < k; j++)
        if (!(S & (1 << j))) for (let c = 0; c < C; c++) out[j][c] += weight[size] * (v[S | (1 << j)][c] - v[S][c]);
    }
    return out;
  }

  /* What is explained of a row with these scores. */
  function explained(model, scores) {
    const p = model.probabilities(scores);
    return p === null ? scores : p.length === 2 ? p.slice(1) : p;
  }

  /* What each player adds when they enter in this order. */
  function gains(model, start, changes, order, first, C) {
    const out = Array.from({ length: changes.length }, () => new Float64Array(C));
    let sums = start, before = first;
    for (const i of order) {
      sums = plus(sums, changes[i]);
      const after = explained(model, model.scoresOfSums(sums));
      for (let c = 0; c < C; c++) out[i][c] = after[c] - before[c];
      before = after;
    }
    return out;
  }

  function* steps(model, plan, row, thresholds) {
    const x = model.features(row), owners = inputOwners(plan), J = plan.columns.length, B = plan.background.length;
    const values = explained(model, model.scores(x)), C = values.length, ofX = model.columnSums(x, owners, J);
    const zeros = () => Array.from({ length: J }, () => new Float64Array(C));
    const base = new Float64Array(C), total = zeros(), variance = zeros();
    for (let b = 0; b < B; b++) {
      const z = inputs(plan, thresholds, plan.background[b]), ofZ = model.columnSums(z, owners, J);
      const differs = new Set();
      for (let i = 0; i < x.length; i++) if (x[i] !== z[i]) differs.add(owners[i]);
      const players = [...differs].sort((a, c) => a - c), k = players.length;
      const start = ofZ.reduce(plus), empty = explained(model, model.scoresOfSums(start));
      const changes = players.map((j) => ofX[j].map((value, u) => value - ofZ[j][u]));
      for (let c = 0; c < C; c++) base[c] += empty[c];
      if (k <= plan.exact_columns) {
        const sums = [start], v = [empty];
        for (let S = 1; S < 2 ** k; S++) {
          const low = 31 - Math.clz32(S & -S);
          sums.push(plus(sums[S & (S - 1)], changes[low]));
          v.push(explained(model, model.scoresOfSums(sums[S])));
          if (S % 128 === 0) yield (b + S / 2 ** k) / B;
        }
        exactValues(v, k, C).forEach((value, i) => { total[players[i]] = plus(total[players[i]], value); });
      } else {
        const found = [], place = new Map(players.map((j, i) => [j, i])), P = plan.permutations[b].length;
        for (const [p, permutation] of plan.permutations[b].entries()) {
          const order = permutation.filter((j) => place.has(j)).map((j) => place.get(j));
          const there = gains(model, start, changes, order, empty, C);
          yield (b + (p + 0.5) / P) / B;
          const back = gains(model, start, changes, order.slice().reverse(), empty, C);
          found.push(there.map((value, i) => value.map((g, c) => (g + back[i][c]) / 2)));
          yield (b + (p + 1) / P) / B;
        }
        players.forEach((j, i) => {
          for (let c = 0; c < C; c++) {
            const values = found.map((pair) => pair[i][c]), mean = values.reduce((a, g) => a + g) / P;
            total[j][c] += mean;
            variance[j][c] += values.reduce((a, g) => a + (g - mean) ** 2, 0) / (P - 1) / P;
          }
        });
      }
      yield (b + 1) / B;
    }
    return {
      values, base: Array.from(base, (value) => value / B), contributions: total.map((t) => Array.from(t, (value) => value / B)),
      errors: variance.map((t) => Array.from(t, (value) => Math.sqrt(value) / B)),
    };
  }

  function run(...given) {
    const work = steps(...given);
    let step = work.next();
    while (!step.done) step = work.next();
    return step.value;
  }

  return { run, steps };
})();

if (typeof module !== "undefined") module.exports = abnetExplain;

/* The form of a report: a field for each column; label, probabilities and explanation of the row, computed here. */
"use strict";

(() => {
  const page = JSON.parse(document.getElementById("abnet-data").textContent);
  const model = abnet.predictor(page.model), place = document.getElementById("abnet-form");
  const form = place.querySelector("form"), answer = document.getElementById("abnet-answer");
  const thresholds = (page.model.preparation && page.model.preparation.thresholds) || [];
  const DAY = 86400000, AT_ONCE = 24, MOST_CLASSES = 12, MOST_OTHERS = 0.5, MISSING = "", ANOTHER = "\u0000another";
  let ticket = 0;

  function element(tag, text, kind) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }

  function drawn(tag, attributes) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  function short(text, most = 60) {
    return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
  }

  function percent(value) {
    return `${(100 * value).toFixed(1)}%`;
  }

  function signed(value) {
    return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
  }

  /* Fields. Each gives a cell as the model takes it: null where it is missing. */

  function choice(options, usual) {
    const made = element("select");
    for (const [value, text] of options) {
      const option = element("option", short(text));
      option.value = value;
      made.append(option);
    }
    made.value = usual;
    return made;
  }

  function control(field) {
    if (field.type === "truth") return choice([["true", "yes"], ["false", "no"], [MISSING, "(missing)"]], field.usual);
    if (field.type === "choice") {
      const known = field.choices.map((text, i) => [`${i}`, text || "(empty)"]);
      const usual = field.usual === null ? MISSING : field.usual < 0 ? ANOTHER : `${field.usual}`;
      return choice([...known, [ANOTHER, "(another value)"], [MISSING, "(missing)"]], usual);
    }
    if (field.type === "text") return element("textarea");
    const made = element("input");
    if (field.type === "number") {
      made.type = "number";
      made.step = "any";
      made.value = field.usual;
    } else if (field.type === "whole") {
      made.inputMode = "numeric";
      made.value = field.usual;
    } else {
      made.type = field.type === "date" ? "date" : "datetime-local";
      const text = field.usual === null ? "" : new Date(Math.round(field.usual * DAY)).toISOString();
      made.value = field.type === "date" ? text.slice(0, 10) : text.slice(0, 16);
    }
    return made;
  }

  function cell(field, input) {
    const text = input.value;
    if (input.validity && input.validity.badInput) throw new Error(`${short(field.name)}: this cannot be read`);
    if (text === MISSING) return null;
    if (field.type === "choice") return text === ANOTHER ? ANOTHER : field.choices[Number(text)];
    if (field.type === "date") return Date.parse(`${text}T00:00Z`) / DAY;
    if (field.type === "time") return Date.parse(`${text}Z`) / DAY;
    return text;
  }

  function important() {
    const fields = page.fields.map((_, i) => i);
    return fields.length <= AT_ONCE + 8 ? fields : fields.slice(0, AT_ONCE);
  }

  const inputs = page.fields.map((field, i) => {
    const input = control(field);
    input.id = `abnet-field-${i}`;
    return input;
  });

  function labelled(i) {
    const field = page.fields[i], label = element("label");
    label.htmlFor = inputs[i].id;
    const name = element("span", short(field.name, 120) + (field.unit ? ` (${short(field.unit, 20)})` : ""));
    label.append(name, inputs[i]);
    return label;
  }

  const first = important();
  form.append(...first.map(labelled));
  if (first.length < inputs.length) {
    const more = element("details"), rest = element("div", undefined, "more");
    more.append(element("summary", `Other columns (${inputs.length - first.length})`), rest);
    rest.append(...inputs.map((_, i) => i).filter((i) => !first.includes(i)).map(labelled));
    form.append(more);
  }

  /* Answers. */

  function table(caption, header, rows) {
    const made = element("table"), head = element("tr");
    made.append(element("caption", caption));
    header.forEach((text, i) => head.append(element("th", text, i === 0 ? "text" : undefined)));
    const thead = element("thead"), tbody = element("tbody");
    thead.append(head);
    for (const row of rows) {
      const line = element("tr");
      row.forEach((text, i) => line.append(element("td", text, i === 0 ? "text word" : undefined)));
      tbody.append(line);
    }
    made.append(thead, tbody);
    return made;
  }

  /* Bars from one number to another, on a scale that is given or spans them. */
  function bars(items, title, range) {
    const list = element("ul", undefined, "bars");
    list.setAttribute("aria-label", title);
    const low = Math.min(0, ...items.map((item) => Math.min(item.from, item.to)), range ? range[0] : 0);
    const high = Math.max(1e-12, ...items.map((item) => Math.max(item.from, item.to)), range ? range[1] : 0);
    const at = (value) => (100 * (value - low)) / (high - low);
    for (const item of items) {
      const line = element("li"), words = element("p"), left = at(Math.min(item.from, item.to));
      const svg = drawn("svg", { "aria-hidden": "true", width: "100%", height: 18 });
      svg.append(
        drawn("rect", { x: 0, y: 3, width: "100%", height: 12, class: "track" }),
        drawn("rect", {
          x: `${left}%`, y: 3, width: `${Math.max(at(Math.max(item.from, item.to)) - left, 0.3)}%`, height: 12,
          class: `bar ${item.style}`,
        }),
      );
      words.append(element("span", short(item.name, 120)), " ", element("b", item.text));
      line.append(words, svg);
      list.append(line);
    }
    return list;
  }

  function figure(title, ...parts) {
    const made = element("figure");
    made.append(element("h3", title), ...parts);
    return made;
  }

  function probabilities(found) {
    if (found.probabilities === null) return [];
    const items = found.probabilities.map((value, k) => ({
      name: model.classes[k], text: percent(value), from: 0, to: value, style: k === found.vote ? "main" : "plain",
    }));
    const listed = page.order.map((k) => items[k]);
    if (listed.length > MOST_CLASSES) listed.sort((a, b) => b.to - a.to);
    return [figure("Probabilities", bars(listed.slice(0, MOST_CLASSES), "Probabilities", [0, 1]))];
  }

  /* A waterfall: the average of the background, then column by column to this row. */
  function contributions(result, found) {
    const several = result.values.length > 1, names = page.plan.columns, inPercent = found.probabilities !== null;
    const answer = found.code === null ? found.vote : found.code, c = several ? answer : 0;
    /* Of two classes the second is computed; the probability of the first is 1 less that, its score the opposite. */
    const first = !several && answer === 0, whole = first && inPercent ? 1 : 0, side = first ? -1 : 1;
    const moves = result.contributions.map((row) => side * row[c]), value = whole + side * result.values[c];
    const size = (value) => (inPercent ? percent(value) : value.toFixed(3));
    const move = (value) => `${value < 0 ? "−" : "+"}${size(Math.abs(value))}`;
    const name = short(model.classes[answer], 30);
    const what = inPercent ? `P(${name})` : `the score for ${name}`;
    const order = names.map((_, j) => j).sort((a, b) => Math.abs(moves[b]) - Math.abs(moves[a]));
    const top = order.slice(0, 10), rest = order.slice(10);
    let end = whole + side * result.base[c];
    const items = [{ name: `average of ${page.plan.background.length} background rows`, text: size(end), from: 0, to: end, style: "plain" }];
    const add = (label, value, error) => {
      items.push({ name: label, text: move(value) + (error > 0 ? ` ± ${size(error)}` : ""), from: end, to: end + value, style: value < 0 ? "lowers" : "raises" });
      end += value;
    };
    top.forEach((j) => add(names[j], moves[j], result.errors[j][c]));
    if (rest.length) add(`${rest.length} other column${rest.length > 1 ? "s" : ""}`, rest.reduce((sum, j) => sum + moves[j], 0), 0);
    items.push({ name: "this row", text: size(value), from: 0, to: value, style: "plain" });
    const words = `How the columns moved ${what} from its average to its value for this row (Shapley values).`;
    return figure("What moved it", bars(items, "Contributions", inPercent ? [0, 1] : undefined), element("figcaption", words));
  }

  function regions(found, row) {
    const made = model.regions(model.features(row), 6);
    if (made === null || made.otherProbability > MOST_OTHERS) return [];
    const c = found.scores.length === 1 ? 0 : found.vote;
    const rows = made.listed.map((r) => [
      `${r.member + 1}: ${r.word.replace(/-/g, "−")}`, percent(r.probability), signed(r.output[c]), signed(r.share[c]),
    ]);
    if (made.others) rows.push([`${made.others} others`, `${percent(made.otherProbability)} of all`, "", signed(made.otherShare[c])]);
    const theory = element("details");
    theory.append(
      element("summary", "For readers of the theory: the regions that the row falls in"),
      table("Regions the row falls in: network and neurons, probability, expected output, share of the score", ["region", "probability", "output", "share"], rows),
    );
    return [theory];
  }

  function show() {
    const mine = ++ticket;
    let found, row;
    try {
      row = page.fields.map((field, i) => cell(field, inputs[i]));
      found = model.predict(row);
    } catch (error) {
      answer.replaceChildren(element("p", `No answer: ${error.message}.`, "problem"));
      answer.dataset.label = "";
      return;
    }
    answer.dataset.label = found.label ?? "";
    answer.dataset.code = found.code ?? "";
    answer.dataset.probabilities = JSON.stringify(found.probabilities);
    const parts = [element("p", found.code === null ? "No answer" : `Answer: ${short(found.label, 200)}`, "result")];
    if (found.code === null) parts.push(element("p", "The model is not certain enough of this row: its decision rule leaves it to a person.", "note"));
    else if (found.code !== found.vote) parts.push(element("p", "This answer follows the decision rule above; the most likely class is another one.", "note"));
    const working = element("p", "Explaining…", "note"), last = regions(found, row);
    answer.replaceChildren(...parts, ...probabilities(found), ...(page.plan ? [working] : []), ...last);
    if (page.plan) explain(row, found, working, mine);
  }

  /* A slice of work at a time, so that the page answers while it computes; a newer row makes an older one stop. */
  function explain(row, found, working, mine) {
    const work = abnetExplain.steps(model, page.plan, row, thresholds);
    const slice = () => {
      if (mine !== ticket) return;
      const start = performance.now();
      let step = work.next();
      while (!step.done && performance.now() - start < 30) step = work.next();
      if (step.done) {
        working.replaceWith(contributions(step.value, found));
        answer.dataset.contributions = JSON.stringify(step.value.contributions);
      } else {
        working.textContent = `Explaining… ${Math.floor(100 * step.value)}%`;
        setTimeout(slice, 0);
      }
    };
    setTimeout(slice, 0);
  }

  let waiting = 0;
  form.addEventListener("submit", (event) => { event.preventDefault(); show(); });
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(show, 150); });
  place.hidden = false;
  show();
})();

/**
 * The questions of a protocol: which are asked of what, and what is still to be answered.
 *
 * The rules are those of the service `annotation` (domain/protocols), which checks every answer: here they decide what
 * is shown. An answer is an object by question; of a question per side or turn an object by side or turn.
 */

const PREFERENCES = ["A", "tie", "B"];

export class Protocol {
  /** Take a protocol as the service writes it. */
  constructor(document) {
    this.document = document;
    this.steps = document.steps;
    this.unit = document.unit;
    this.isPair = this.unit.kind === "pair";
    this.opensExchanges = document.reveal === "exchange_by_exchange";
    /**
     * Each question with the index of its step, how deep it is nested, the conditions under which it is asked, and the
     * choice that opens it: {of, text}, null for one that is no follow-up.
     */
    this.questions = this.steps.flatMap((step, index) => placed(step.questions, index, 0, [], null));
    this.byId = new Map(this.questions.map((each) => [each.question.id, each]));
  }

  /** Return of what a question is asked in a conversation with these speakers: null stands for the whole unit. */
  targets(question, speakers) {
    if (question.per === "side") return this.isPair ? [] : ["A", "B"];
    if (question.per !== "turn") return [null];
    const about = this.unit.speaker;
    return speakers.flatMap((speaker, turn) => (about === "both" || about === speaker ? [String(turn)] : []));
  }

  /** Return the turns that are annotated one by one, by number. */
  turns(speakers) {
    return this.unit.kind === "turns" ? this.targets({ per: "turn" }, speakers) : [];
  }

  /** Return what is asked given what is answered, in order: {question, step, level, target}. */
  asked(answer, speakers) {
    const known = new Map();
    const found = [];
    for (const { question, step, level, conditions } of this.questions) {
      for (const target of this.targets(question, speakers)) {
        const holds = conditions.every(({ of, values }) =>
          (known.get(`${of}/${target}`) ?? known.get(`${of}/null`) ?? []).some((value) => values.includes(value)),
        );
        if (!holds) continue;
        found.push({ question, step, level, target });
        const value = valueOf(answer, question.id, target);
        if (isAnswer(question, value)) known.set(`${question.id}/${target}`, [value].flat());
      }
    }
    return found;
  }

  /** Return the answer without what is not asked any more. */
  pruned(answer, speakers) {
    const kept = {};
    for (const { question, target } of this.asked(answer, speakers)) {
      const value = valueOf(answer, question.id, target);
      if (value === undefined) continue;
      if (target === null) kept[question.id] = value;
      else (kept[question.id] ??= {})[target] = value;
    }
    return kept;
  }

  /** Return the required questions that have no answer, of all steps. */
  missing(answer, speakers) {
    return this.asked(answer, speakers).filter(
      ({ question, target }) => question.required && !isAnswer(question, valueOf(answer, question.id, target)),
    );
  }

  /** Say values by question in the words of the protocol; empty where there are none. */
  words(values, texts) {
    const said = Object.entries(values).map(([id, value]) => {
      const { question } = this.byId.get(id);
      if (question.kind === "text") return value;
      const taken = choicesOf(question, texts).filter((choice) => [value].flat().includes(choice.value));
      return taken.map(({ text }) => text).join(", ") || texts("none");
    });
    return said.join(" · ");
  }

  /** Return the part of an answer that the first steps ask for. */
  upTo(answer, steps) {
    return Object.fromEntries(Object.entries(answer).filter(([id]) => this.byId.get(id).step < steps));
  }

  /** Return how many steps an answer needs to be shown, from 1. */
  stepsOf(answer) {
    return Math.max(1, ...Object.keys(answer).map((id) => this.byId.get(id).step + 1));
  }
}

function placed(questions, step, level, taken, opener) {
  return questions.flatMap((question) => {
    const own = question.when ? [{ of: question.when.question, values: question.when.any_of }] : [];
    const followUps = (question.choices ?? []).flatMap((choice) =>
      placed(choice.questions ?? [], step, level + 1, [{ of: question.id, values: [choice.value] }], {
        of: question.id, text: choice.text,
      }),
    );
    return [{ question, step, level, conditions: [...taken, ...own], opener }, ...followUps];
  });
}

/** Return what a question has as its answer; undefined where there is none. */
export function valueOf(answer, id, target) {
  return target === null ? answer[id] : answer[id]?.[target];
}

/** Return an answer in which a question has this value; undefined takes it out. */
export function withValue(answer, id, target, value) {
  const changed = { ...answer };
  if (target === null) changed[id] = value;
  else changed[id] = { ...answer[id], [target]: value };
  if (value === undefined) {
    if (target !== null) delete changed[id][target];
    if (target === null || Object.keys(changed[id]).length === 0) delete changed[id];
  }
  return changed;
}

/** Whether a value answers a question: an empty list does, for none of the choices; a blank text does not. */
export function isAnswer(question, value) {
  if (value === undefined) return false;
  return question.kind !== "text" || value.trim() !== "";
}

/** Return the values that a question can have, as they are shown: {value, text}; none for free text. */
export function choicesOf(question, texts) {
  switch (question.kind) {
    case "single":
    case "multiple":
      return question.choices.map(({ value, text }) => ({ value, text }));
    case "likert": {
      const points = Array.from({ length: question.scale.max - question.scale.min + 1 }, (_, n) => question.scale.min + n);
      return points.map((value) => ({ value, text: String(value), label: question.scale.labels?.[value] }));
    }
    case "preference":
      return PREFERENCES.map((value) => ({ value, text: question.labels?.[value] ?? texts(`preference.${value}`) }));
    default:
      return [];
  }
}

/** Return what differs between two answers: [[id, target, value]], undefined for what was taken out. */
export function changesBetween(before, after) {
  const places = new Set([...placesOf(before), ...placesOf(after)]);
  return [...places].map((place) => JSON.parse(place)).flatMap(([id, target]) => {
    const value = valueOf(after, id, target);
    return isEqual(valueOf(before, id, target), value) ? [] : [[id, target, value]];
  });
}

function placesOf(answer) {
  return Object.entries(answer).flatMap(([id, value]) =>
    isByTarget(value) ? Object.keys(value).map((target) => JSON.stringify([id, target])) : [JSON.stringify([id, null])],
  );
}

function isByTarget(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether two answers, or two values, say the same; the order of an object's fields does not matter. */
export function isEqual(one, other) {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => isEqual(one[name], other[name]));
}

/** One breach of `docs/style.md` that a program can see. */
export interface Breach {
  readonly rule: string
  readonly advice: string
}

interface Rule {
  readonly name: string
  readonly advice: string
  readonly finds: (sentence: string) => boolean
}

/** Longest sentence in words. A piece of code counts as one word. */
const MAX_WORDS = 25

const OPENERS = /^(Of|What|Where|Who|Whoever|Whose|Whether)\b/
const CONDITIONAL_WHERE = /(^Where|[,;:(] ?where|\bwhere there (is|are)|\bexcept where|\bonly where)\b/i
/** Words and turns that no native engineer writes, each with what to write instead. */
const DIALECT: readonly (readonly [RegExp, string])[] = [
  [/\banew\b/i, 'again'],
  [/\b(whoever|whatsoever|somebody)\b/i, 'the person or thing it stands for'],
  [
    /\b(?<!there )(is|are|was|were) no (?!longer\b|more\b|less\b|fewer\b|one\b|different\b|better\b|worse\b)[a-z]+/i,
    'is not a …',
  ],
  [/\b(tells?|told|speaks?|spoken|heard?s?) of\b/i, 'report, mention'],
  [/\b(is|are|was|were) to be\b/i, 'must be, will be'],
  [/\b(of before|by now|not to be had|taken? in hand|in hand|work(s|ed)? off|carr(y|ies|ied) out)\b/i, 'plain words'],
  [/\bmend(s|ed|ing)?\b/i, 'fix, repair, correct'],
  [/\b(thereof|therein|hence|thus|save for)\b/i, 'plain words'],
  [/\b(laid|lays|lay) (beside|down|into|over|in|on|there)\b/i, 'put, written, stored'],
  [/, for (it|there|they|this|that|the|a|an|nothing|nobody|what)\b(?! (example|instance))/i, 'because'],
]

const RULES: readonly Rule[] = [
  { name: 'opener', advice: 'put the subject first', finds: (s) => OPENERS.test(s) && !s.endsWith('?') },
  {
    name: 'where',
    advice: 'use if or when for a condition',
    finds: (s) => CONDITIONAL_WHERE.test(s) && !s.endsWith('?'),
  },
  { name: 'length', advice: `stay at ${MAX_WORDS} words or fewer`, finds: (s) => countWords(s) > MAX_WORDS },
]

/** The breaches of one sentence, in the order of the rules. */
export function breachesOf(sentence: string): readonly Breach[] {
  const plain = RULES.filter(({ finds }) => finds(sentence)).map(({ name, advice }) => ({ rule: name, advice }))
  const dialect = DIALECT.flatMap(([pattern, instead]) => {
    const [found] = pattern.exec(sentence) ?? []
    return found === undefined ? [] : [{ rule: 'dialect', advice: `instead of "${found}": ${instead}` }]
  })
  return [...plain, ...dialect]
}

/** Words as a reader counts them. */
export function countWords(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
}

import { createInterface } from 'node:readline'
import { untilAborted } from '../../client/until-aborted.js'
import { UsageError } from '../../core/errors.js'
import { visibleText } from '../../core/visible-text.js'
import type { Output } from '../output/output.js'

/** An answer to choose from. */
export interface Choice {
  readonly value: string
  readonly meaning: string
}

/** Asks a person in a terminal. Questions go to stderr. */
export interface Questions {
  /** The answer, or the fallback if it is empty. Without a fallback, asks until there is one. */
  readonly text: (question: string, fallback?: string) => Promise<string>
  /** One of the choices, by its number or its value; by default the first. */
  readonly choice: (question: string, choices: readonly Choice[]) => Promise<string>
  readonly close: () => void
}

/** True if a person can be asked: both sides are a terminal, and neither `--json` nor `--no-input` forbids it. */
export function canAsk({ json, stderr }: Output, noInput: boolean | undefined): boolean {
  return noInput !== true && !json && stderr.isTTY === true && process.stdin.isTTY === true
}

/** Opens a conversation. Ctrl-C ends the command, and the end of the input is a {@link unanswered} error. */
export function openQuestions(signal: AbortSignal): Questions {
  // The terminal edits the line itself, so Ctrl-C stays a signal.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false })
  const typed = lines[Symbol.asyncIterator]()
  const ask = async (prompt: string, question: string) => {
    process.stderr.write(visibleText(prompt))
    const { value, done } = await untilAborted(typed.next(), signal)
    if (done) throw unanswered([question.replace(/\?$/, '')], [])
    return value.trim()
  }
  const text = async (question: string, fallback?: string): Promise<string> => {
    const answer = await ask(`${question}${fallback === undefined ? '' : ` [${fallback}]`}: `, question)
    return answer || (fallback ?? (await text(question)))
  }
  const choice = async (question: string, choices: readonly Choice[]): Promise<string> => {
    const rows = choices.map(({ value, meaning }, index) => `  ${index + 1}  ${value}: ${meaning}\n`)
    process.stderr.write(`${question}\n${rows.map((row) => visibleText(row.trimEnd())).join('\n')}\n`)
    for (;;) {
      const answer = await ask(`1-${choices.length} [1]: `, question)
      const chosen = choices.find(({ value }, index) => (answer || '1') === String(index + 1) || answer === value)
      if (chosen) return chosen.value
    }
  }
  return { text, choice, close: () => lines.close() }
}

/** The error of a question that may not be asked. @param missing in words @param passing flags or variables */
export function unanswered(missing: readonly string[], passing: readonly string[]): UsageError {
  const list = new Intl.ListFormat('en-GB').format(missing)
  return new UsageError('ERR_INPUT_NEEDED', `The command needs an answer and cannot ask for it here: ${list}.`, {
    remedies: passing.length > 0 ? [`Pass ${passing.join(' ')}.`] : ['Answer the question, or pass the flag for it.'],
  })
}

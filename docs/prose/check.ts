/**
 * `npm run prose`: names every sentence that breaks `docs/style.md`, and prints how often each rule is broken. Ends with 1
 * if any is broken. `npm run prose -- src/media` looks only at the paths that begin so.
 */
import process, { argv, stdout } from 'node:process'
import { readProse } from './read-prose.js'
import { breachesOf, countWords } from './rules.js'

const [, , prefix = ''] = argv
const sentences = readProse().filter(({ path }) => path.startsWith(prefix))
const breaches = sentences.flatMap((sentence) =>
  breachesOf(sentence.text).map((breach) => ({ ...sentence, ...breach })),
)

for (const { path, line, kind, rule, advice, text } of breaches)
  stdout.write(`${path}:${line} ${kind} ${rule} (${advice})\n    ${text}\n`)

for (const kind of ['doc', 'message', 'comment'] as const) {
  const own = sentences.filter((sentence) => sentence.kind === kind)
  const words = own.reduce((sum, { text }) => sum + countWords(text), 0)
  const wheres = own.reduce((sum, { text }) => sum + (text.match(/\bwhere\b/gi)?.length ?? 0), 0)
  const count = breaches.filter((breach) => breach.kind === kind).length
  const rate = words === 0 ? 0 : (1000 * wheres) / words
  stdout.write(
    `${kind}: ${own.length} sentences, ${words} words, "where" ${rate.toFixed(1)} per 1,000, ${count} breaches\n`,
  )
}
// Not exit(): a pipe may not have taken everything yet.
process.exitCode = breaches.length > 0 ? 1 : 0

import type { ScriptRunner } from '../../../ledger/index.js'

/**
 * Begins every script of the service. All keys have one prefix:
 *
 * - `file:<id>`: one hash per file, with the fields of `FileRecord`.
 * - `unused`, `inputs`, `outputs`, `deleted`: files, sorted by the time from which their age counts.
 * - `unqueued`: started files that are not in the queue yet.
 * - `user:<id>`: one hash per user with credits and webhook settings. `accounts` and `subjects`: name → user.
 * - `key:<client id>`; `keys`: the lasting ones by their creation; `keyEnds`: all by their end.
 * - `signing`: kids by their creation; `signingKeys`: kid → private key.
 * - `events:<file id>`: the unsent events of a file; `sending:<file id>`: the sender of the first.
 * - `due`: files by the time when their first event is due, or when the lease of its sender ends.
 * - `log`, `kept`, `turns`.
 */
const PRELUDE = `
local S = own .. 'service:'
local call = redis.call
local function hash(key)
  local flat, found = call('HGETALL', key), {}
  for i = 1, #flat, 2 do found[flat[i]] = flat[i + 1] end
  return found, flat
end
`

/** Runs the scripts of one part of the store. */
export class ServiceScripts<Name extends string> {
  readonly #runner: ScriptRunner
  readonly #part: string
  readonly #scripts: Readonly<Record<Name, string>>

  constructor(runner: ScriptRunner, part: string, scripts: Readonly<Record<Name, string>>) {
    this.#runner = runner
    this.#part = part
    this.#scripts = scripts
  }

  run(name: Name, values: readonly (string | number)[] = []): Promise<unknown> {
    return this.#runner.run(`service-${this.#part}-${name}`, `${PRELUDE}${this.#scripts[name]}`, values)
  }
}

/** Reads a hash from the answer of a script (names and values in turn). Undefined if there is none. */
export function hashOf(flat: unknown): ReadonlyMap<string, string> | undefined {
  const list = Array.isArray(flat) ? flat : []
  if (list.length === 0) return undefined
  const hash = new Map<string, string>()
  for (let at = 0; at + 1 < list.length; at += 2) hash.set(String(list[at]), String(list[at + 1]))
  return hash
}

/** Reads a list of hashes from the answer of a script. */
export function hashesOf(answer: unknown): ReadonlyMap<string, string>[] {
  return (Array.isArray(answer) ? answer : []).flatMap((flat) => hashOf(flat) ?? [])
}

/** Names and values in turn, without the fields that are null. */
export function fieldsOf(values: Readonly<Record<string, string | number | null>>): (string | number)[] {
  return Object.entries(values).flatMap(([name, value]) => (value === null ? [] : [name, value]))
}

/** Reads a number from a field. Null if the field does not exist. */
export function numberOf(hash: ReadonlyMap<string, string>, name: string): number | null {
  const text = hash.get(name)
  return text === undefined ? null : Number(text)
}

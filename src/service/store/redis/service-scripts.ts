import type { ScriptRunner } from '../../../jobs/index.js'

/**
 * Begins every script of the service. Keys, all under one prefix:
 *
 * - `file:<id>`, a hash a file, named as `FileRecord`; `unused`, `inputs`, `outputs`, `deleted` (sorted by the time from
 *   which each counts as old), `unqueued`
 * - `user:<id>`, a hash a user with credits and webhook settings; `accounts` and `subjects` (name → user)
 * - `key:<client id>`, `keys` (the lasting ones by their time), `keyEnds`
 * - `signing` (by time) and `signingKeys` (kid → private key)
 * - `events:<file id>`, a list of what is still to be told of a file; `sending:<file id>`, who tells the first of it;
 *   `due`, files by when the first of theirs is due, or when the lease of who tells it is over; `log`
 * - `kept` and `turns`
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

/** A hash as a script answers it, names and values in turn; undefined where there is none. */
export function hashOf(flat: unknown): ReadonlyMap<string, string> | undefined {
  const list = Array.isArray(flat) ? flat : []
  if (list.length === 0) return undefined
  const hash = new Map<string, string>()
  for (let at = 0; at + 1 < list.length; at += 2) hash.set(String(list[at]), String(list[at + 1]))
  return hash
}

/** A list of hashes as a script answers it. */
export function hashesOf(answer: unknown): ReadonlyMap<string, string>[] {
  return (Array.isArray(answer) ? answer : []).flatMap((flat) => hashOf(flat) ?? [])
}

/** Fields that are set, names and values in turn; what is null is not there. */
export function fieldsOf(values: Readonly<Record<string, string | number | null>>): (string | number)[] {
  return Object.entries(values).flatMap(([name, value]) => (value === null ? [] : [name, value]))
}

/** A field that holds a number; null where there is none. */
export function numberOf(hash: ReadonlyMap<string, string>, name: string): number | null {
  const text = hash.get(name)
  return text === undefined ? null : Number(text)
}

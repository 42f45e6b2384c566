import { readFileSync, statSync } from 'node:fs'
import { UsageError } from '../../core/errors.js'
import { thrownMessage } from '../../core/thrown-message.js'

/** Server and login whose password is searched. */
export interface PasswordQuery {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
}

/**
 * Searches a password file of libpq: lines of `host:port:database:user:password`. `*` matches anything, and `\` escapes a
 * colon.
 *
 * @returns undefined if no line matches
 * @throws UsageError `ERR_STORE_REFUSED` if the file cannot be read, or by others than its owner
 */
export function passwordFrom(file: string, { host, port, database, user }: PasswordQuery): string | undefined {
  const wanted = [host, String(port), database, user]
  for (const line of readPrivate(file).split(/\r?\n/)) {
    if (line.startsWith('#')) continue
    const fields = (line.match(/(?:\\.|[^:\\])*(?::|$)/g) ?? []).map((field) =>
      field.replace(/:$/, '').replace(/\\(.)/g, '$1'),
    )
    if (wanted.every((value, index) => fields[index] === '*' || fields[index] === value)) return fields[4]
  }
  return undefined
}

function readPrivate(file: string): string {
  const refuse = (message: string, remedy: string) =>
    new UsageError('ERR_STORE_REFUSED', message, { remedies: [remedy] })
  try {
    if (process.platform !== 'win32' && statSync(file).mode & 0o077)
      throw refuse('Other users can read the password file of the store.', `chmod 0600 ${file}`)
    return readFileSync(file, 'utf8')
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown
    const message = `The password file of the store cannot be read: ${thrownMessage(thrown)}.`
    throw refuse(message, 'Correct `passfile` in the address, or PGPASSFILE.')
  }
}

import type { SecretPosition, WebhookMethod } from '../../contract/index.js'
import { type ExitCode, UsageError } from '../../core/errors.js'
import { visibleText } from '../../core/visible-text.js'
import type { Portal } from '../../service/index.js'
import type { Output } from '../output/output.js'

/** The parameters of a portal action. */
export interface PortalRequest {
  readonly portal: Portal
  readonly output: Output
  readonly account: string
  readonly subject?: string | undefined
  readonly name?: string | undefined
  readonly url?: string | undefined
  readonly method: WebhookMethod
  readonly secretPosition: SecretPosition
  readonly secretStdin?: boolean | undefined
  readonly limit: string
  readonly port: string
  readonly signal: AbortSignal
}

/** Performs one action and reports it: an event for programs, text for people. The exit code is 0 if it gives none. */
export type PortalAction = (request: PortalRequest) => void | Promise<void> | Promise<ExitCode>

/** The user of the account that the command names. The account `local` always exists. */
export function accountUser({ portal, account }: Pick<PortalRequest, 'portal' | 'account'>) {
  return account === 'local' ? portal.accounts.ensure(account) : portal.accounts.named(account)
}

/** Requires a flag or argument. @throws UsageError `ERR_USAGE` */
export function required(value: string | undefined, what: string): string {
  if (value) return value
  throw new UsageError('ERR_USAGE', `${what} is missing.`, { remedies: ['`voxmux portal --help` shows examples.'] })
}

/** A day as YYYY-MM-DD, which sorts and compares easily. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** Formats rows in columns as narrow as possible. */
export function textTable(rows: readonly (readonly string[])[]): string {
  const shown = rows.map((row) => row.map(visibleText))
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...shown.map((row) => row[column]?.length ?? 0)))
  return shown
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

import type { Transaction } from '../../../ledger/index.js'

/** Reads a setting, creates it if it does not exist, and locks it until the transaction ends. */
export async function lockedSetting(tx: Transaction, name: string): Promise<string> {
  await tx.run("INSERT INTO setting (name, value) VALUES (?, '') ON CONFLICT (name) DO NOTHING", [name])
  return String((await tx.get(`SELECT value FROM setting WHERE name = ? ${tx.dialect.forUpdate}`, [name]))?.value)
}

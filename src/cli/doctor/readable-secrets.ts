import { statSync } from 'node:fs'
import type { Config } from '../../config/index.js'

const SECRETS = /(^|\.)(clientSecret|webhook\.secret|webhookSecret)$/
/** An address with a password. */
const WITH_PASSWORD = /^\w+:\/\/[^/@]*:[^/@]+@/

/** Notes for configuration files that hold a secret and that every user of this machine may read. */
export function readableSecrets({ files }: Pick<Config, 'files'>): readonly string[] {
  if (process.platform === 'win32') return []
  return files.flatMap(({ path, settings }) => {
    const secrets = [...settings].filter(
      ([name, value]) => SECRETS.test(name) || (name === 'store' && WITH_PASSWORD.test(String(value))),
    )
    if (secrets.length === 0 || (statSync(path).mode & 0o004) === 0) return []
    const names = secrets.map(([name]) => name).join(' and ')
    return [`${path} holds ${names}, and every user of this machine can read it: chmod 640 it, or use the environment.`]
  })
}

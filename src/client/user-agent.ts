import { readFileSync } from 'node:fs'
import { z } from 'zod'

const manifest = z.object({ version: z.string() })

/** `voxmux/<version>`, as every request says it. */
export const USER_AGENT = `voxmux/${
  manifest.parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))).version
}`

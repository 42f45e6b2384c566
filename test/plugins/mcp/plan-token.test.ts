import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { planToken, requirePlanToken } from '../../../plugins/mcp/plan-token.js'
import { loadMcpSdk } from '../../../plugins/mcp/sdk-package.js'
import { openServerKey } from '../../../plugins/mcp/server-key.js'

const folder = mkdtempSync(join(tmpdir(), 'voxmux-key-'))
afterAll(() => rmSync(folder, { recursive: true }))

const coded = (code: string) => expect.objectContaining({ code })

describe('the token of a plan', () => {
  it('is that of one plan, for an hour, also after a restart', async () => {
    const [key, restarted] = [await openServerKey(folder), await openServerKey(folder)]
    const shown = { input: '/a.wav', paidSec: 3 }
    const { token, expires } = planToken(key, shown, 0)
    expect(expires).toBe('1970-01-01T01:00:00.000Z')
    expect(() => requirePlanToken(restarted, token, { paidSec: 3, input: '/a.wav' }, 3_600_000)).not.toThrow()
    expect(() => requirePlanToken(key, token, shown, 3_600_001)).toThrow(coded('ERR_PLAN_EXPIRED'))
    expect(() => requirePlanToken(key, token, { ...shown, paidSec: 4 }, 0)).toThrow(coded('ERR_PLAN_TOKEN'))
    const later = `zzzzzzzz.${token.split('.')[1]}`
    expect(() => requirePlanToken(key, later, shown, 0)).toThrow(coded('ERR_PLAN_TOKEN'))
  })
})

describe('the package for the protocol', () => {
  it('is named with its command if it is not installed', async () => {
    const missing = Object.assign(new Error('gone'), { code: 'ERR_MODULE_NOT_FOUND' })
    await expect(loadMcpSdk(() => Promise.reject(missing))).rejects.toMatchObject({
      code: 'ERR_MCP_PACKAGE',
      remedies: [expect.stringMatching(/^npm install --prefix \S+ @modelcontextprotocol\/sdk@1$/)],
    })
  })
})

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { Roots } from '../../../plugins/mcp/roots.js'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'voxmux-roots-')))
const [films, inner, other] = [join(folder, 'films'), join(folder, 'films/inner'), join(folder, 'films-2')]
for (const path of [films, inner, other]) mkdirSync(path)
symlinkSync(other, join(films, 'link'))
afterAll(() => rmSync(folder, { recursive: true }))

const uri = (path: string) => pathToFileURL(path).href
const outside = expect.objectContaining({ code: 'ERR_OUTSIDE_ROOTS' })

describe('the open folders', () => {
  it('are those of the command, of the client, or what both have in common', async () => {
    expect(await (await Roots.of([films], null)).require('a.wav')).toBe(join(films, 'a.wav'))
    expect(await (await Roots.of([films], [])).require('a.wav')).toBe(join(films, 'a.wav'))
    const both = await Roots.of([films], [uri(inner), uri(other)])
    expect(await both.require('new/a.wav')).toBe(join(inner, 'new/a.wav'))
    for (const path of [join(films, 'a.wav'), join(other, 'a.wav')])
      await expect(both.require(path)).rejects.toEqual(outside)
  })

  it('end at their links, and at names that only begin alike', async () => {
    const roots = await Roots.of([], [uri(films), 'https://example.com', 'file://elsewhere/films'])
    expect(await roots.require(films)).toBe(films)
    for (const path of ['link/a.wav', '../films-2/a.wav', '/etc/passwd', 'inner/../../x'])
      await expect(roots.require(path)).rejects.toEqual(outside)
  })

  it('are required', async () => {
    for (const client of [null, [], ['https://example.com']])
      await expect(Roots.of([], client)).rejects.toMatchObject({ code: 'ERR_MCP_ROOTS' })
  })
})

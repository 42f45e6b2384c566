import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { runCli } from '../../helpers/voxmux-cli.js'
import { openWorkshop } from '../../helpers/workshop.js'

const FOLDER = fileURLToPath(new URL('../../../plugins/mcp', import.meta.url))
const skill = readFileSync(join(FOLDER, 'SKILL.md'), 'utf8')
const index = readFileSync(join(FOLDER, 'llms.txt'), 'utf8')

it('has a skill that a client can load whole', () => {
  expect(skill.split('\n').length).toBeLessThanOrEqual(150)
  expect(skill).toMatch(/^---\nname: voxmux\ndescription: .{40,1024}\n---\n/)
})

it('has an index whose links lead to pages', () => {
  expect(index).toMatch(/^# voxmux\n\n> .+/)
  const links = [...`${index}${skill}`.matchAll(/\]\(([^):]+)\)/g)].map(([, path = '']) => path)
  expect(links.length).toBeGreaterThan(8)
  expect(links.filter((path) => !existsSync(join(FOLDER, path)))).toEqual([])
})

describe('the commands that they name', () => {
  const shop = openWorkshop()
  afterAll(() => shop.remove())
  shop.take('vfr.mp4', 'interview.mp4')

  const blocks = [...skill.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.trim().split('\n'))
  const inline = [...index.matchAll(/`(voxmux [^` ]+ [^`]+)`/g)].map(([, command = '']) => command)
  // In their order: a later one reads what an earlier one wrote.
  it.each([...new Set([...blocks, ...inline])])('%s', async (command) => {
    const [program, ...args] = command.split(' ')
    expect(program).toBe('voxmux')
    expect(await runCli(args, { cwd: shop.dir, env: shop.env })).toMatchObject({ exitCode: 0 })
  })
})

import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { runCli } from '../helpers/voxmux-cli.js'
import { openWorkshop } from '../helpers/workshop.js'

/** What Node says of a package that is not there, for the one that only a shared store needs. */
const HOOKS = `
export async function resolve(specifier, context, next) {
  if (specifier !== 'pg') return next(specifier, context)
  throw Object.assign(new Error("Cannot find package '" + specifier + "'"), { code: 'ERR_MODULE_NOT_FOUND' })
}`

it('names the command that installs what a shared store needs, and needs it for nothing else', async () => {
  const workshop = openWorkshop()
  onTestFinished(() => workshop.remove())
  const hooks = workshop.path('without.mjs')
  const url = `data:text/javascript,${encodeURIComponent(HOOKS)}`
  writeFileSync(hooks, `import { register } from 'node:module'; register(${JSON.stringify(url)})`)
  const options = { cwd: workshop.dir, env: { ...workshop.env, NODE_OPTIONS: `--import=${pathToFileURL(hooks)}` } }
  const missing = await runCli(['jobs', 'list', '--store', 'postgres://127.0.0.1:1', '--json'], options)
  expect(missing.exitCode).toBe(2)
  expect(JSON.parse(missing.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
    event: 'result',
    error: { code: 'ERR_STORE_NOT_INSTALLED', remedies: [expect.stringMatching(/^npm install --prefix \S+ pg@8$/)] },
  })
  expect((await runCli(['jobs', 'list'], options)).exitCode).toBe(0)
})

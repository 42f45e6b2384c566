import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { installCommand, packageMissing } from '../../src/core/optional-package.js'
import { openWorkshop } from '../helpers/workshop.js'

it.each([
  ['project/node_modules/voxmux', 'project/package.json', 'npm install --prefix PLACE/project pg@8'],
  ['project/node_modules/voxmux', 'project/yarn.lock', 'yarn --cwd PLACE/project add pg@8'],
  ['project/node_modules/.pnpm/voxmux@1.0.0/node_modules/voxmux', null, 'pnpm add pg@8'],
  ['pnpm/global/5/.pnpm/voxmux@1.0.0/node_modules/voxmux', null, 'pnpm add --global pg@8'],
  ['prefix/lib/node_modules/voxmux', null, 'npm install --global pg@8'],
  ['.npm/_npx/0123/node_modules/voxmux', '.npm/_npx/0123/package.json', 'npx --package voxmux --package pg@8 voxmux'],
  ['checkout', 'checkout/package.json', 'npm install --prefix PLACE/checkout pg@8'],
])('names what installs a package beside %s', (folder, file, command) => {
  const workshop = openWorkshop()
  onTestFinished(() => workshop.remove())
  mkdirSync(workshop.path(folder), { recursive: true })
  if (file !== null) writeFileSync(workshop.path(file), '')
  expect(installCommand('pg@8', join(workshop.path(folder), '/'))).toBe(command.replace('PLACE', workshop.path('.')))
})

it('tells a package that is missing from another fault', () => {
  const missing = packageMissing('ERR_AZURE_MISSING', 'Azure Blob Storage needs', '@azure/storage-blob@12')
  const fault = Object.assign(new Error('no'), { code: 'ERR_MODULE_NOT_FOUND' })
  expect(() => missing(fault)).toThrow('needs the package @azure/storage-blob, which is not installed')
  expect(() => missing(new SyntaxError('broken'))).toThrow('broken')
})

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { parseAllDocuments } from 'yaml'

/** Folder of the package kubernetes-types: the resources of Kubernetes, with every field that they have. */
const TYPES = process.env.VOXMUX_KUBERNETES_TYPES
if (!TYPES)
  process.stderr.write('Skipped: types of Kubernetes: VOXMUX_KUBERNETES_TYPES does not name kubernetes-types.\n')

const MANIFESTS = new URL('../../../../plugins/watch-folder/deploy/farm/kubernetes.yaml', import.meta.url)

interface Resource {
  readonly apiVersion: string
  readonly kind: string
}

/** Faults that the compiler finds in resources as constants of their types. */
function faultsOf(resources: readonly Resource[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'voxmux-kubernetes-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const lines = resources.map((resource, n) => {
    const { apiVersion, kind } = resource
    const group = apiVersion.includes('/') ? apiVersion : `core/${apiVersion}`
    return `export const r${n}: import('${TYPES}/${group}').${kind} = ${JSON.stringify(resource)}\n`
  })
  const file = join(folder, 'resources.ts')
  writeFileSync(file, lines.join(''))
  const compiler = createRequire(import.meta.url).resolve('typescript/lib/tsc.js')
  const how = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext']
  try {
    return execFileSync(process.execPath, [compiler, ...how, file], { cwd: folder, encoding: 'utf8' })
  } catch (error) {
    return (error as { readonly stdout: string }).stdout
  }
}

it.skipIf(!TYPES)('has only fields that Kubernetes has, with values of their types', () => {
  const resources: Resource[] = parseAllDocuments(readFileSync(MANIFESTS, 'utf8')).map((document) => document.toJS())
  // Those of KEDA are not of Kubernetes.
  const own = resources.filter(({ apiVersion }) => !apiVersion.startsWith('keda.sh/'))
  expect(own.map(({ kind }) => kind)).toEqual(['PersistentVolumeClaim', 'ConfigMap', 'Deployment', 'Deployment'])
  expect(faultsOf(own)).toBe('')
  const wrong = own.map((resource) => JSON.parse(JSON.stringify(resource).replace('"replicas"', '"replica"')))
  expect(faultsOf(wrong)).toContain("'\"replica\"' does not exist in type 'DeploymentSpec'")
})

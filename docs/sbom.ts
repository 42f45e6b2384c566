/**
 * `npm run sbom`: the bill of materials in CycloneDX. It names each package that an installation can have, and each whose
 * code is part of `dist`. The command of npm leaves out the latter, and packages that a devDependency needs too.
 */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bundledPackages } from './sections/bundled-licences.js'
import { installedPackages } from './sections/licences.js'

interface Component {
  readonly 'bom-ref': string
  readonly properties: readonly { readonly name: string }[]
}

interface Bill {
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

const root = fileURLToPath(new URL('..', import.meta.url))
const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--loglevel=error']
const bill = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })) as Bill
const packages = [...installedPackages(), ...bundledPackages()]
const wanted = new Set(packages.map(({ name, version }) => `${name}@${version}`))
const components = bill.components
  .filter((component) => wanted.has(component['bom-ref']))
  .map((component) => ({
    ...component,
    properties: component.properties.filter(({ name }) => name !== 'cdx:npm:package:development'),
  }))
const dependencies = bill.dependencies
  .filter(({ ref }) => wanted.has(ref) || ref === bill.metadata.component['bom-ref'])
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => wanted.has(other)) }))
process.stdout.write(`${JSON.stringify({ ...bill, components, dependencies }, null, 2)}\n`)

// Lints a package as n8n's scanner does: node scan.mjs SCANNER SOURCE DIST. Prints every finding, warnings too, as JSON.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [scanner, source, dist] = process.argv.slice(2)
const from = createRequire(join(scanner, 'package.json'))
const { ESLint } = await import(pathToFileURL(from.resolve('eslint')).href).then(({ default: all }) => all)
const { buildScanConfig, SOURCE_FILE_PATTERNS } = await import(pathToFileURL(join(scanner, 'scanner/scanner.mjs')).href)

const legs = [
  [source, SOURCE_FILE_PATTERNS],
  // The published package: the scanner reads its JavaScript and its package.json.
  [dist, ['**/*.js', 'package.json']],
]
const findings = []
for (const [cwd, patterns] of legs) {
  const eslint = new ESLint({
    cwd,
    allowInlineConfig: false,
    overrideConfigFile: true,
    overrideConfig: await buildScanConfig(),
  })
  for (const { filePath, messages } of await eslint.lintFiles(patterns)) {
    for (const { ruleId, line, message } of messages) findings.push(`${filePath}:${line} ${ruleId}: ${message}`)
  }
}
process.stdout.write(JSON.stringify(findings))

import {
  FILE_ERROR_CODES,
  fileErrorInfo,
  OPERATIONS,
  type Operation,
  webhookStatusSchema,
  webhookTypeSchema,
} from '../../contract/index.js'
import { escapeHtml } from '../../core/escape-html.js'
import { openApiDocument } from './openapi-document.js'

/** Renders the interface as a page for people, without scripts or external resources. */
export function openApiPage(scope: string): string {
  const operations: readonly Operation[] = Object.values(OPERATIONS)
  const paths = openApiDocument(scope).paths as Record<string, unknown>
  const sections = operations.map(
    (operation) => `<section id="${operation.name}">
<h2><b>${operation.method}</b> <code>${escapeHtml(operation.path)}</code></h2>
<p>${escapeHtml(operation.summary)} ${operation.authenticated ? 'Needs a bearer token.' : 'No token needed.'}</p>
<details><summary>Request and responses</summary><pre>${escapeHtml(JSON.stringify(paths[operation.path], null, 2))}</pre></details>
</section>`,
  )
  const errors = FILE_ERROR_CODES.map(fileErrorInfo).map(
    ({ code, name, meaning, remedies }) =>
      `<tr><td>${code}</td><td>${name}</td><td>${escapeHtml(meaning)}</td><td>${escapeHtml(remedies.join(' ')).replaceAll(/`(.+?)`/g, '<code>$1</code>')}</td></tr>`,
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>File Voice Regeneration Service</title>
<style>
:root { color-scheme: light dark; background: Canvas }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
pre { overflow-x: auto; padding: 1rem; background: #8881; border-radius: .5rem; font-size: .85rem }
h2 { font-size: 1.1rem; margin: 2rem 0 .25rem } h2 b { color: light-dark(#0b7a4b, #5fd6a0) } h2, code { overflow-wrap: anywhere }
.wide { overflow-x: auto }
table { border-collapse: collapse } td, th { text-align: left; padding: .3rem .8rem .3rem 0; vertical-align: top; border-top: 1px solid #8884 }
@media (max-width: 44rem) { tr { display: block; border-top: 1px solid #8884; padding: .5rem 0 } td { display: inline; border: 0 } td + td + td { display: block } tr:has(th) { display: none } }
</style></head><body><main>
<h1>File Voice Regeneration Service</h1>
<p>Version 1.0.0. Scope of tokens: <code>${escapeHtml(scope)}</code>. Machine-readable: <a href="openapi.json">openapi.json</a>, limits: <a href="limits">limits</a>.</p>
<nav>${operations.map(({ name }) => `<a href="#${name}">${name}</a>`).join(' · ')}</nav>
${sections.join('\n')}
<h2>Webhooks</h2>
<p>Types: ${webhookTypeSchema.options.join(', ')}. Statuses: ${escapeHtml(webhookStatusSchema.options.join(', '))}.</p>
<h2>File error codes</h2>
<div class="wide"><table><tr><th>Code</th><th>Name</th><th>Meaning</th><th>What to do</th></tr>
${errors.join('\n')}</table></div>
</main></body></html>`
}

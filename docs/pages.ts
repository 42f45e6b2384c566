import { watchSchema } from '../src/config/watch-schema.js'
import { jobRequestJsonSchema, jobRequestSchema } from '../src/pipeline/queue/job-request.js'
import { allErrorsTable } from './sections/all-errors.js'
import { bundledLicences } from './sections/bundled-licences.js'
import { presetKeys, settingsTable } from './sections/configuration.js'
import { containerTable } from './sections/containers.js'
import { errorCodeTable } from './sections/error-codes.js'
import { exitCodeTable } from './sections/exit-codes.js'
import { licenceList } from './sections/licences.js'
import { manPage } from './sections/man-page.js'
import { pluginSettings } from './sections/plugin-settings.js'
import { presetTable } from './sections/presets.js'
import { serviceSettingsTable } from './sections/service-settings.js'

/** A page with parts that are written by `npm run docs`. */
export interface GeneratedPage {
  /** From the root of the repository. */
  readonly path: string
  /** Markdown by the name of the part: it stands between `<!-- begin name -->` and `<!-- end name -->`. */
  readonly sections: Readonly<Record<string, () => string>>
}

/** A package names its files itself. */
const hlsJob = jobRequestSchema.omit({
  input: true,
  output: true,
  outputType: true,
  keepOriginal: true,
  addTrack: true,
})

/** Every page that is written, wholly or in part, from the code. */
export const GENERATED_PAGES: readonly GeneratedPage[] = [
  { path: 'docs/service.md', sections: { 'service-settings': serviceSettingsTable } },
  {
    path: 'README.md',
    sections: { presets: presetTable, 'exit-codes': exitCodeTable, 'error-codes': errorCodeTable },
  },
  { path: 'docs/configuration.md', sections: { settings: settingsTable, preset: presetKeys } },
  { path: 'NOTICE', sections: { licences: licenceList, 'bundled licences': bundledLicences } },
  { path: 'docs/errors.md', sections: { 'all-errors': allErrorsTable } },
  { path: 'docs/containers.md', sections: { containers: containerTable } },
  { path: 'plugins/hls/README.md', sections: { settings: () => pluginSettings(hlsJob, '`job` of the options') } },
  {
    path: 'plugins/nexrender/README.md',
    sections: { settings: () => pluginSettings(jobRequestSchema, 'the action, besides `module`') },
  },
  { path: 'plugins/script-step/README.md', sections: { settings: () => pluginSettings(jobRequestSchema, 'the job') } },
  {
    path: 'plugins/watch-folder/README.md',
    sections: { settings: () => pluginSettings(watchSchema, '`watch` of the configuration') },
  },
]

/** A file that is written as a whole from the code. */
export interface GeneratedFile {
  /** From the root of the repository. */
  readonly path: string
  readonly write: () => string | Promise<string>
}

export const GENERATED_FILES: readonly GeneratedFile[] = [
  { path: 'docs/voxmux.1', write: manPage },
  // The output of `voxmux step --schema`, at an address for the "$schema" of an editor.
  { path: 'docs/step-job.schema.json', write: () => `${JSON.stringify(jobRequestJsonSchema(), null, 2)}\n` },
]

/**
 * A page's text with its generated parts renewed.
 *
 * @throws {Error} if the page lacks the marks of a part
 */
export function renderPage(page: GeneratedPage, text: string): string {
  return Object.entries(page.sections).reduce((whole, [name, write]) => {
    const begin = `<!-- begin ${name}: written by npm run docs -->`
    const end = `<!-- end ${name} -->`
    const from = whole.indexOf(begin)
    const to = whole.indexOf(end)
    if (from < 0 || to < from) throw new Error(`${page.path} has no part between "${begin}" and "${end}".`)
    return `${whole.slice(0, from + begin.length)}\n\n${write()}\n\n${whole.slice(to)}`
  }, text)
}

import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import pino from 'pino'
import { UsageError } from '../../core/errors.js'
import { unreadableFile } from '../../core/unreadable-file.js'
import { visibleText } from '../../core/visible-text.js'
import { text, toggle } from '../arguments/option.js'
import { portNumber } from '../arguments/port-number.js'
import { CONFIG_OPTIONS, flagsOf, RUN_OPTIONS, withOptions } from '../arguments/run-options.js'
import { defineCommand } from '../command.js'
import { untilStopped, withinSeconds } from '../interruption.js'
import { loadConfig } from '../load-config.js'
import { openPage } from '../terminal/open-page.js'

/** `voxmux ui [file]` */
export const command = defineCommand({
  positionals: '[file]',
  examples: [
    ['', 'open the page in the browser, and choose a file there'],
    ['clip.mov', 'open the page with this file'],
    ['--no-open --port 8090', 'only print the address of the page'],
  ],
  build: (parser) =>
    withOptions(parser.positional('file', { type: 'string', describe: 'File to begin with' }), {
      ...CONFIG_OPTIONS,
      ledger: RUN_OPTIONS.ledger,
      store: RUN_OPTIONS.store,
      port: { ...text('Port; 0 picks a free one'), default: '0' },
      open: { type: 'boolean', default: true, describe: 'Open the page in the browser (--no-open: only print it)' },
      json: toggle('Print events as JSON lines on stdout'),
    }),
  run: async ({ open, port, file, ...args }, context) => {
    const { cwd, env, output, signal } = context
    const settings = flagsOf(args)
    await loadConfig(args, settings, context)
    const first = file === undefined ? null : await existingFile(resolve(cwd, file))
    const { startUi } = await import('../../ui/index.js')
    const ui = await startUi({
      ...{ cwd, env, settings, logger: pino({ level: 'warn' }, pino.destination(2)) },
      ...{ config: args.config, file: first, port: portNumber(port) },
      openFolder: (folder) => openPage(folder, env),
    })
    try {
      output.event({ event: 'listening', url: ui.url })
      output.print(visibleText(`The page is at ${ui.url}`))
      output.note('Only you have this address, because it contains a secret. Press Ctrl-C to stop.')
      if (open && !output.json && !(await openPage(ui.startPage, env)))
        output.note('No browser could be opened. Open the address in one.')
      return await untilStopped(signal)
    } finally {
      await withinSeconds(ui.close())
    }
  },
})

/** The path itself. @throws {UsageError} `ERR_INPUT_MISSING`, `ERR_INPUT_IS_FOLDER` */
async function existingFile(path: string): Promise<string> {
  const found = await stat(path).catch((cause: unknown) => {
    throw unreadableFile('ERR_INPUT_MISSING', path, cause)
  })
  if (!found.isDirectory()) return path
  throw new UsageError('ERR_INPUT_IS_FOLDER', `${path} is a folder.`, {
    input: path,
    remedies: ['Name a file in it, or leave it out and browse to it on the page.'],
  })
}

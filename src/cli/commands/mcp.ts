import { resolve } from 'node:path'
import { resolveConfig } from '../../config/resolve-config.js'
import { UsageError } from '../../core/errors.js'
import { list, toggle } from '../arguments/option.js'
import { portNumber } from '../arguments/port-number.js'
import { CONFIG_OPTIONS, flagsOf, OUTPUT_OPTIONS, RUN_OPTIONS, withOptions } from '../arguments/run-options.js'
import { defineCommand } from '../command.js'
import { untilStopped, withinSeconds } from '../interruption.js'
import { loadConfig } from '../load-config.js'
import { createDaemonReporter } from '../output/daemon-reporter.js'

/** `voxmux mcp` */
export const command = defineCommand({
  positionals: '',
  examples: [
    ['--root ~/Films', 'serve an agent that starts this command (stdio)'],
    ['--http --port 8765 --root ~/Films', 'serve agents of this computer over HTTP, with a token'],
  ],
  build: (parser) =>
    withOptions(parser, {
      root: list('Folder to read and write (repeatable; default: the roots of the client)', 'Input:'),
      http: toggle('Listen on loopback instead of stdin and stdout', 'Service:'),
      port: {
        type: 'string',
        default: '0',
        requiresArg: true,
        describe: 'With --http: port; 0 picks a free one',
        group: 'Service:',
      },
      ...CONFIG_OPTIONS,
      ledger: RUN_OPTIONS.ledger,
      store: RUN_OPTIONS.store,
      json: { ...OUTPUT_OPTIONS.json, describe: 'With --http: print events as JSON lines on stdout' },
    }),
  run: async (args, context) => {
    const { output, signal, cwd, env } = context
    const roots = (args.root ?? []).map((folder) => resolve(cwd, folder))
    requireFitting(args.http === true, roots, output.json)
    const flags = flagsOf(args)
    const config = await loadConfig(args, flags, context)
    const { openMcpServer } = await import('../../../plugins/mcp/index.js')
    const reporter = createDaemonReporter(output, { log: 'human' })
    const server = await openMcpServer({
      ...{ config, roots, signal, logger: reporter.logger, onEvent: reporter.report, onEmbedded: reporter.note },
      configOf: (own) => resolveConfig({ cwd, env, configPath: args.config, flags: { ...flags, ...own } }),
    })
    try {
      if (args.http) {
        const { url, token } = await server.listen(portNumber(args.port))
        output.event({ event: 'listening', url, token })
        output.print(`Agents of this computer connect to ${url}\nwith the header  Authorization: Bearer ${token}`)
        const exitCode = await untilStopped(signal)
        output.result({ exitCode, counts: reporter.counts })
        return exitCode
      }
      return await Promise.race([server.serveStdio().then(() => 0 as const), untilStopped(signal)])
    } finally {
      reporter.stop()
      await withinSeconds(server.close())
    }
  },
})

/** On stdio, stdout belongs to the protocol. Over HTTP, a client could otherwise open any folder. */
function requireFitting(isHttp: boolean, roots: readonly string[], isJson: boolean): void {
  if (isHttp && roots.length === 0)
    throw new UsageError('ERR_USAGE', '--http needs the folders that agents may read and write.', {
      remedies: ['Name them: `voxmux mcp --http --root FOLDER`.'],
    })
  if (!isHttp && isJson)
    throw new UsageError('ERR_USAGE', '--json needs --http: on stdio, stdout belongs to the protocol.', {
      remedies: ['Leave out --json. The log is on stderr.'],
    })
}

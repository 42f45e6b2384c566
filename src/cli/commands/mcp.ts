import { resolve } from 'node:path'
import { resolveConfig } from '../../config/resolve-config.js'
import { UsageError } from '../../core/errors.js'
import { list, text, toggle } from '../arguments/option.js'
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
      port: text('With --http: port (default: a free one)', 'Service:'),
      ...CONFIG_OPTIONS,
      ledger: RUN_OPTIONS.ledger,
      store: RUN_OPTIONS.store,
      json: { ...OUTPUT_OPTIONS.json, describe: 'With --http: print events as JSON lines on stdout' },
    }),
  run: async (args, context) => {
    const { output, signal, cwd, env } = context
    const roots = (args.root ?? []).map((folder) => resolve(cwd, folder))
    if (args.http) requireRoots(roots)
    else requireNone({ '--port': args.port !== undefined, '--json': output.json })
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
        const { url, token } = await server.listen(portNumber(args.port ?? '0'))
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

/** A client could otherwise open any folder. */
function requireRoots(roots: readonly string[]): void {
  if (roots.length > 0) return
  throw new UsageError('ERR_USAGE', '--http needs the folders that agents may read and write.', {
    remedies: ['Name them: `voxmux mcp --http --root FOLDER`.'],
  })
}

/** Refuses the flags that only a server over HTTP has. */
function requireNone(given: Readonly<Record<string, boolean>>): void {
  const [flag] = Object.entries(given).find(([, isGiven]) => isGiven) ?? []
  if (flag === undefined) return
  throw new UsageError('ERR_USAGE', `${flag} needs --http: without it, an agent talks to voxmux on stdin and stdout.`, {
    remedies: [`Add --http, or leave out ${flag}.`],
  })
}

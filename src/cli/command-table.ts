import type { CommandEntry } from './command.js'

/** The command that runs if none is named: `voxmux clip.mov`. */
export const DEFAULT_COMMAND = 'run'

/** Every command, in the order of the help. One entry and one file per command. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'run',
    usage: '<input…>',
    summary: 'Regenerate the voice of files (or https addresses).',
    load: () => import('./commands/run.js'),
  },
  {
    name: 'check',
    usage: '<input…>',
    summary: 'Check files locally: what the service would refuse, and why.',
    load: () => import('./commands/check.js'),
  },
  {
    name: 'ui',
    usage: '[file]',
    summary: 'Regenerate files in a browser page on this computer.',
    load: () => import('./commands/ui.js'),
  },
  {
    name: 'timeline',
    usage: '<cut>',
    summary: 'Regenerate only what a timeline plays (OTIO, FCPXML, FCP7 XML, PRPROJ, AAF, ALE, EDL, MLT).',
    load: () => import('./commands/timeline.js'),
  },
  {
    name: 'watch',
    usage: '[folder…]',
    summary: 'Regenerate each file that is dropped into a folder, once.',
    load: () => import('./commands/watch.js'),
  },
  {
    name: 'step',
    usage: '[job.json | -]',
    summary: 'Run jobs from a script: JSON in, events out.',
    speaksJson: (words) => !words.includes('--schema'),
    load: () => import('./commands/step.js'),
  },
  {
    name: 'serve',
    usage: '',
    summary: 'Run the service on its own.',
    load: () => import('./commands/serve.js'),
  },
  {
    name: 'portal',
    usage: '<topic> …',
    summary: 'Manage the keys, credits and webhooks of your own service.',
    load: () => import('./commands/portal.js'),
  },
  {
    name: 'presets',
    usage: '[name]',
    summary: 'List the presets, or show one.',
    load: () => import('./commands/presets.js'),
  },
  {
    name: 'worker',
    usage: '',
    summary: 'Process queued jobs: from the ledger, a shared store or a spool folder.',
    load: () => import('./commands/worker.js'),
  },
  {
    name: 'jobs',
    usage: '<action> [job…]',
    summary: 'List, show, retry or forget jobs; export or import the ledger.',
    load: () => import('./commands/jobs.js'),
  },
  {
    name: 'verify',
    usage: '<file…>',
    summary: 'Prove which input an output was made from, and that it is unchanged.',
    load: () => import('./commands/verify.js'),
  },
  {
    name: 'mcp',
    usage: '',
    summary: 'Serve AI agents over the Model Context Protocol (MCP).',
    load: () => import('./commands/mcp.js'),
  },
  {
    name: 'init',
    usage: '[folder]',
    summary: 'Write the configuration of a watch folder, and a file to run it as a service.',
    load: () => import('./commands/init.js'),
  },
  {
    name: 'doctor',
    usage: '',
    summary: 'Check what is installed, reachable and configured; --install gets ffmpeg.',
    load: () => import('./commands/doctor.js'),
  },
  {
    name: 'completion',
    usage: '[shell]',
    summary: 'Print a script that completes commands and flags.',
    load: () => import('./commands/completion.js'),
  },
]

/** Finds a command by its name. */
export function findCommand(name: string): CommandEntry | undefined {
  return COMMANDS.find((entry) => entry.name === name)
}

import type { CommandEntry } from './command.js'

/** The command that is meant where none is named: `voxmux clip.mov`. */
export const DEFAULT_COMMAND = 'run'

/** Every command, in the order of the help. One line a command, one file a command. */
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
    summary: 'The local pre-check alone: what would be refused, and why.',
    load: () => import('./commands/check.js'),
  },
  {
    name: 'timeline',
    usage: '<cut>',
    summary: 'Regenerate only what a timeline uses (OTIO, FCPXML, FCP7 XML, EDL, MLT).',
    load: () => import('./commands/timeline.js'),
  },
  {
    name: 'watch',
    usage: '[folder…]',
    summary: 'Watch folders: what is dropped into them is regenerated, each file once.',
    load: () => import('./commands/watch.js'),
  },
  {
    name: 'step',
    usage: '[job.json | -]',
    summary: 'One step of a script: jobs as JSON in, events out.',
    speaksJson: (words) => !words.includes('--schema'),
    load: () => import('./commands/step.js'),
  },
  {
    name: 'serve',
    usage: '',
    summary: 'Run the service, standalone.',
    load: () => import('./commands/serve.js'),
  },
  {
    name: 'portal',
    usage: '<topic> …',
    summary: 'Keys, credits and webhooks of that service.',
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
    summary: 'Work only: one of many on a shared job store, or from a spool folder.',
    load: () => import('./commands/worker.js'),
  },
  {
    name: 'jobs',
    usage: 'list|show|retry|forget',
    summary: 'What the ledger holds.',
    load: () => import('./commands/jobs.js'),
  },
  {
    name: 'doctor',
    usage: '',
    summary: 'What is installed, reachable and configured; --install gets ffmpeg.',
    load: () => import('./commands/doctor.js'),
  },
  {
    name: 'completion',
    usage: '[bash|zsh|fish]',
    summary: 'Print a script that completes commands and flags.',
    load: () => import('./commands/completion.js'),
  },
]

/** Looks a command up by its name. */
export function findCommand(name: string): CommandEntry | undefined {
  return COMMANDS.find((entry) => entry.name === name)
}

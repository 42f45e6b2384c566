import type { EventEmitter } from 'node:events'
import fs from 'node:fs'
import { vi } from 'vitest'
import { runCommandLine } from '../../src/cli/run-command-line.js'
import { toolVariables } from './loaded-tools/tool-variables.js'
import type { CliOptions, CliResult } from './voxmux-cli.js'

/** How a command ended, and all it said. */
export interface EndedCommand {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs the command line in this process, as `main.ts` does: a start of its own takes half a second of processor time.
 * For words, messages and exit codes. One at a time.
 */
export async function commandInProcess(
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<EndedCommand> {
  const said = { stdout: '', stderr: '' }
  let code = -1
  const { stdout, stderr } = process
  const tools = toolVariables()
  const { writeSync } = fs
  const before = { cwd: process.cwd(), env: process.env, isTerminal: [stdout.isTTY, stderr.isTTY] as const }
  const emitters = [process, stdout, stderr].map((emitter) => ({ emitter, listeners: listenersOf(emitter) }))
  const stubs = [
    ...(['stdout', 'stderr'] as const).map((channel) =>
      vi.spyOn(process[channel], 'write').mockImplementation((text, ...rest) => {
        said[channel] += text
        const told = rest.find((one) => typeof one === 'function') as (() => void) | undefined
        told?.()
        return true
      }),
    ),
    // A daemon's log goes past the stream.
    vi.spyOn(fs, 'writeSync').mockImplementation(((fd: number, text: string, ...rest: never[]) => {
      if (fd !== 2) return writeSync(fd, text, ...rest)
      said.stderr += text
      return Buffer.byteLength(text)
    }) as typeof fs.writeSync),
    vi.spyOn(process, 'exit').mockImplementation(((exitCode: number) => {
      code = exitCode
    }) as typeof process.exit),
  ]
  try {
    process.chdir(cwd)
    process.env = { ...tools, ...env }
    // The runner of the tests may have a terminal. A command that is started has pipes.
    stdout.isTTY = stderr.isTTY = false
    await runCommandLine(args)
  } finally {
    process.chdir(before.cwd)
    process.env = before.env
    ;[stdout.isTTY, stderr.isTTY] = before.isTerminal
    for (const stub of stubs) stub.mockRestore()
    for (const { emitter, listeners } of emitters)
      for (const [name, present] of listenersOf(emitter))
        for (const listener of present) if (!listeners.get(name)?.includes(listener)) emitter.off(name, listener)
  }
  return { code, ...said }
}

function listenersOf(emitter: EventEmitter) {
  return new Map(
    emitter.eventNames().map((name) => [name, emitter.listeners(name) as ((...args: unknown[]) => void)[]]),
  )
}

/** The same with the arguments and the result of `runCli`, for tests that also start the command. */
export async function runCliInProcess(
  args: readonly string[],
  { cwd, env = {} }: Pick<CliOptions, 'cwd' | 'env'>,
): Promise<CliResult> {
  const { code, ...said } = await commandInProcess(args, { cwd, env })
  return { exitCode: code, signal: null, ...said }
}

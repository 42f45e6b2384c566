import { spawn } from 'node:child_process'

/** The program that opens a file as a double click would. */
const OPENERS: Readonly<Record<string, string>> = { darwin: 'open', win32: 'explorer.exe' }

/** Opens a page in the browser, with none of voxmux's variables. @returns false if no program opens pages */
export function openPage(path: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const passed = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('VOXMUX_')))
  const opener = OPENERS[process.platform] ?? 'xdg-open'
  const child = spawn(opener, [path], { env: passed, stdio: 'ignore', detached: true })
  child.unref()
  return new Promise((resolve) => {
    child.once('spawn', () => resolve(true)).once('error', () => resolve(false))
  })
}

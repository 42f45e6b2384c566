import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { joinedProgram } from '../helpers/system/joined-program.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Runs a module in a process of its own, killed at the end of the test. `'src/…'` imports the source, one file of it. */
export function startScript(
  code: string,
  env: NodeJS.ProcessEnv = {},
): { child: ChildProcess; line: () => Promise<unknown> } {
  const source = code.replace(/(?<=')src\/[^']+\.js(?=')/g, (path) =>
    joinedProgram(`${ROOT}${path.replace(/js$/, 'ts')}`),
  )
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const lines: string[] = []
  const waiting: { readonly resolve: (line: string) => void; readonly reject: (error: Error) => void }[] = []
  let rest = ''
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
    process.stderr.write(text)
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const next = waiting.shift()
      if (next) next.resolve(part)
      else lines.push(part)
    }
  })
  child.on('close', (code, signal) => {
    for (const { reject } of waiting)
      reject(new Error(`The script ended (${code ?? signal}) before it printed a line. ${errors}`))
  })
  /** The next line of its output, which is JSON. Rejects if the script ends before. */
  const line = async () => {
    const ready = lines.shift()
    return JSON.parse(ready ?? (await new Promise<string>((resolve, reject) => waiting.push({ resolve, reject }))))
  }
  return { child, line }
}

/** Runs a script to its end. @returns the JSON that it printed */
export async function runScript(code: string): Promise<unknown> {
  const { child, line } = startScript(`${code}\nprocess.stdout.write('\\n')`)
  const [answer] = await Promise.all([line(), new Promise((resolve) => child.on('close', resolve))])
  return answer
}

/** Kills a process as `kill -9` does and waits until it is gone. */
export async function kill9(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.on('exit', resolve))
  child.kill('SIGKILL')
  await gone
}

/**
 * Runs a command that starts ffmpeg many times, beside the servers of the tests, and ends as the command does:
 * `tsx with-servers-script.ts COMMAND [ARGUMENT…]`.
 */
import { spawnSync } from 'node:child_process'
import startServers from './start-servers.js'

const [command = '', ...args] = process.argv.slice(2)
const end = await startServers()
const { status, error } = spawnSync(command, args, { stdio: 'inherit' })
end?.()
if (error) throw error
process.exitCode = status ?? 1

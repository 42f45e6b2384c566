/**
 * The fault server as a process of its own: `node --import tsx test/helpers/fault-server-main.ts [faults]`.
 *
 * Prints one line of JSON with the six values of the environment, then serves until it is killed. `faults` is JSON:
 * `[{"operation":"startProcess","fault":{"kind":"status","status":503},"times":2}]`; more are added, and what happened
 * is read, at `<VOXMUX_BASE_URL>/__fault`.
 */
import { type Fault, type FaultOperation, FaultServer } from '../fault-server.js'

const server = await FaultServer.start()
const faults: { operation: FaultOperation; fault: Fault; times?: number }[] = JSON.parse(process.argv[2] ?? '[]')
for (const { operation, fault, times } of faults) server.fail(operation, fault, times)
process.stdout.write(`${JSON.stringify(server.env)}\n`)

const end = () => void server.close().finally(() => process.exit(server.violations.length > 0 ? 1 : 0))
process.once('SIGTERM', end)
process.once('SIGINT', end)

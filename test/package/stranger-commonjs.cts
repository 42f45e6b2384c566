/** The same stranger in CommonJS: the script step is required, with its types, and does its work. */
import step = require('voxmux/step')

const { scriptStep } = step
// A folder for each version of Node.
const finished: Promise<step.FinishedStep> = scriptStep({ input: 'speech.wav', output: `${process.version}/` })
finished.then(({ status, receipt }) => process.stdout.write(`required by CommonJS: ${status}, ${receipt}\n`))

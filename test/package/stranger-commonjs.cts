/** The same stranger in CommonJS: the script step is required, with its types. */
import step = require('voxmux/step')

const { scriptStep } = step
const refused: Promise<string> = scriptStep({ input: 'none.wav', segments: [{ startSec: 1 }] }).then(
  ({ output }) => output,
  ({ code }: { readonly code: string }) => code,
)
refused.then((code) => process.stdout.write(`required by CommonJS: ${code}\n`))

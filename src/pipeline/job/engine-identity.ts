import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { checkSchema } from '../../config/check-schema.js'
import { readJsonFile } from '../../config/read-json-file.js'
import { UsageError } from '../../core/errors.js'
import { onnxModelSchema } from '../../voice/index.js'
import { fileSha256, valueSha256 } from '../file-identity.js'

/**
 * Identifies a voice model of the user's own by its description and its files. Another model under the same path has
 * another identity, so its voices are not taken from the cache.
 *
 * @param path of the JSON description
 * @throws {UsageError} `ERR_ONNX_MODEL` if a file of the model is missing; those of reading and checking the description
 */
export async function engineIdentity(path: string): Promise<string> {
  const model = checkSchema(onnxModelSchema, await readJsonFile(path), path)
  const files = model.stages.map(({ file }) => resolve(dirname(path), file))
  return valueSha256({ model, files: await Promise.all(files.map((file) => hashOf(file, path))) })
}

async function hashOf(file: string, path: string): Promise<string> {
  if (await stat(file).catch(() => undefined)) return fileSha256(file)
  throw new UsageError('ERR_ONNX_MODEL', `${path} names the voice model ${file}, which does not exist.`, {
    input: path,
    remedies: ['Correct "file" in the description. It is relative to the description.'],
  })
}

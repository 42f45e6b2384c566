import { FILE_ERROR_CODES, fileErrorInfo, type OutputType } from 'voxmux'

const wanted: OutputType = 'flac'
const names: string[] = FILE_ERROR_CODES.map((code) => fileErrorInfo(code).name)
process.stdout.write(`import { … } from 'voxmux': ${names.length} file error codes, output as ${wanted}\n`)

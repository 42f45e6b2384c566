export { type ProcessedFile, type ProcessFileOptions, processFile } from './process-file.js'

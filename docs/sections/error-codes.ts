import { FILE_ERROR_CODES, fileErrorInfo } from '../../src/contract/file-error-codes.js'

/** Markdown table of the service's file error codes with what to do about each, from the contract. */
export function errorCodeTable(): string {
  const rows = FILE_ERROR_CODES.filter((code) => code !== 0)
    .map(fileErrorInfo)
    .map(
      ({ code, name, meaning, remedies }) => `| ${code} | ${name} | ${meaning} | ${remedies.map(cell).join('<br>')} |`,
    )
  return ['| code | name | what it means | what to do |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}

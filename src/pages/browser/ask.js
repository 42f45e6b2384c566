const token = document.querySelector('meta[name=voxmux-token]').content

/** Sends a request. Throws an Error with the server's message. */
export async function ask(path, options = {}) {
  const headers = { accept: 'application/json', ...options.headers }
  const response = await fetch(path, { ...options, headers }).catch((cause) => {
    throw new Error('voxmux does not respond. If it has ended, start it again and open the address that it prints.', {
      cause,
    })
  })
  const answer = await response.json().catch(() => null)
  if (response.ok) return answer
  throw new Error(answer?.error?.message ?? `The server responded with status ${response.status}. Reload the page.`)
}

/** Requests a change, which needs the token of this page. A body is sent as JSON, and a file as it is. */
export function change(path, body) {
  const isFile = body instanceof Blob
  const sent = body === undefined || isFile ? body : JSON.stringify(body)
  const type = isFile ? 'application/octet-stream' : 'application/json'
  return ask(path, { method: 'POST', body: sent, headers: { 'x-voxmux-token': token, 'content-type': type } })
}

import { createHmac } from 'node:crypto'
import { isSameSecret } from '../../core/same-secret.js'

/** The permission of a link: write one input, or read one output under a name. */
export type LinkGrant =
  | { readonly kind: 'upload'; readonly fileId: string }
  | { readonly kind: 'download'; readonly fileId: string; readonly extension: string; readonly name: string }

/**
 * Signs and reads the storage links of the local back end.
 *
 * A path is `/voxmux/uploads/<file id>` or `/voxmux/downloads/<file id>.<extension>`: account, container and blob, as
 * Azure's client parses an address. The signature covers the whole path, the name and the expiry.
 */
export function linkSigner(secret: string) {
  const signature = (path: string, expiry: string, name: string) =>
    createHmac('sha256', secret).update([path, expiry, name].join('\n')).digest('base64url')

  return {
    /** @returns path and query, to append to a node's storage address */
    sign(grant: LinkGrant, expirySec: number): string {
      const path = pathOf(grant)
      const query = new URLSearchParams({ se: String(expirySec) })
      if (grant.kind === 'download') query.set('name', grant.name)
      query.set('sig', signature(path, String(expirySec), query.get('name') ?? ''))
      return `${path}?${query}`
    },
    /** The permission that the address grants now, or why it grants none. */
    read(address: URL): LinkGrant | 'unknown' | 'forged' | 'expired' {
      const grant = grantOf(address)
      if (!grant) return 'unknown'
      const [expiry, given] = [address.searchParams.get('se') ?? '', address.searchParams.get('sig') ?? '']
      const wanted = signature(address.pathname, expiry, address.searchParams.get('name') ?? '')
      if (!isSameSecret(given, wanted)) return 'forged'
      return Number(expiry) * 1000 > Date.now() ? grant : 'expired'
    },
  }
}

const ID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const UPLOAD = new RegExp(`^/voxmux/uploads/(${ID})$`)
const DOWNLOAD = new RegExp(`^/voxmux/downloads/(${ID})\\.([a-z0-9]{1,8})$`)

function pathOf(grant: LinkGrant): string {
  switch (grant.kind) {
    case 'upload':
      return `/voxmux/uploads/${grant.fileId}`
    case 'download':
      return `/voxmux/downloads/${grant.fileId}.${grant.extension}`
    default:
      return grant satisfies never
  }
}

function grantOf(address: URL): LinkGrant | undefined {
  const [, uploadId] = UPLOAD.exec(address.pathname) ?? []
  if (uploadId) return { kind: 'upload', fileId: uploadId }
  const [, fileId, extension] = DOWNLOAD.exec(address.pathname) ?? []
  const name = address.searchParams.get('name')
  return fileId && extension && name !== null ? { kind: 'download', fileId, extension, name } : undefined
}

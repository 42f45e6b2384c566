import type { ICredentialTestRequest, ICredentialType, INodeProperties } from 'n8n-workflow'

/** An API key of the developer portal. */
export class VoxmuxApi implements ICredentialType {
  name = 'voxmuxApi'

  displayName = 'Voxmux API'

  icon = { light: 'file:../nodes/Voxmux/voxmux.svg', dark: 'file:../nodes/Voxmux/voxmux.dark.svg' } as const

  documentationUrl = 'https://www.npmjs.com/package/n8n-nodes-voxmux'

  properties: INodeProperties[] = [
    {
      displayName: 'Service Address',
      name: 'baseUrl',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'https://api.example.com',
      description: 'Address of the service, without /api/v1',
    },
    {
      displayName: 'Identity Provider Address',
      name: 'authUrl',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'https://login.example.com',
      description: 'Address of the identity provider, without the tenant ID',
    },
    { displayName: 'Tenant ID', name: 'tenantId', type: 'string', default: '', required: true },
    { displayName: 'Client ID', name: 'clientId', type: 'string', default: '', required: true },
    {
      displayName: 'Client Secret',
      name: 'clientSecret',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
    },
    {
      displayName: 'Scope',
      name: 'scope',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'api://application-id-uri/.default',
    },
    {
      displayName: 'Model',
      name: 'model',
      type: 'string',
      default: 'regen_v1',
      required: true,
      description: 'Name of the model of the service',
    },
    {
      displayName: 'Block Type Header',
      name: 'blockTypeHeader',
      type: 'string',
      default: 'x-ms-blob-type',
      description: 'Name of the header that marks an upload as a BlockBlob',
    },
  ]

  test: ICredentialTestRequest = {
    request: {
      method: 'POST',
      baseURL: '={{$credentials.authUrl.replace(/\\/+$/, "")}}',
      url: '=/{{encodeURIComponent($credentials.tenantId)}}/oauth2/v2.0/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: {
        grant_type: 'client_credentials',
        client_id: '={{$credentials.clientId}}',
        client_secret: '={{$credentials.clientSecret}}',
        scope: '={{$credentials.scope}}',
      },
    },
  }
}

import { addMany, GIANT, SMALL } from './many-rows.ts'
import { openTenantsApi, type TenantsApi } from './tenants-api.ts'
// The tenant API of a cloud with 100,000 VMs, a fifth of them of one organisation.
import { tokenOf } from './token-of.ts'

export const SIZE = { vms: 100_000, orgs: 100, giant: 20_000 }

export interface ManyRecordsApi extends AsyncDisposable {
  readonly api: TenantsApi
  readonly tokens: {
    readonly giant: string
    readonly small: string
    readonly administrator: string
  }
}

export async function openManyRecordsApi(): Promise<ManyRecordsApi> {
  const api = await openTenantsApi()
  const { db } = api.cloud
  await addMany(api.cloud, SIZE)
  const tokens = {
    giant: await tokenOf(db, GIANT),
    small: await tokenOf(db, SMALL),
    administrator: await tokenOf(db, 'System', 'system administrator'),
  }
  return { api, tokens, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() }
}

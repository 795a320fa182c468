// The identity servers of an organisation that a browser can be sent to.
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'

import { request } from '../api/client.ts'

export interface LoginServer {
  readonly name: string
  readonly href: string
}

/** The organisation of the last login at an identity server, in this browser: its button is shown at once. */
const LAST_ORG = 'skerry.login-org'
export const lastLoginOrg = (): string => localStorage.getItem(LAST_ORG) ?? ''
export const rememberLoginOrg = (org: string): void => localStorage.setItem(LAST_ORG, org)

/** The cloud is asked after the last key, not at every one. */
const TYPING_MS = 300
const none: readonly LoginServer[] = []

/** `org` may still be typed. An organisation that does not exist has none. */
export function useLoginServers(org: string): readonly LoginServer[] {
  const [asked, setAsked] = useState(org)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(org), TYPING_MS)
    return () => clearTimeout(timer)
  }, [org])
  const { data } = useQuery({
    queryKey: ['login-servers', asked],
    enabled: asked !== '',
    queryFn: ({ signal }) =>
      request<readonly LoginServer[]>(`/login/servers?org=${encodeURIComponent(asked)}`, {
        signal,
      }),
  })
  return asked === org ? (data ?? none) : none
}

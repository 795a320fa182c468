import { useEffect } from 'react'

import { CommandLine } from '../components/command-line.tsx'
import { Dialog } from '../components/dialog.tsx'
import {
  hasSessionEnded,
  logOut,
  pageConfig,
  resumeOnMachine,
  useSession,
} from '../data/session.ts'
import { useStore } from '../data/store.ts'
import { LoginForm } from './login-form.tsx'

/** The session ended while the page was open. After the login everything is as before: page, filter and half-filled form. */
export function LoginDialog() {
  const { user, org } = useSession()
  const { kind } = useStore(pageConfig)
  if (kind === 'machine') return <MachineDialog />
  return (
    <Dialog title="Your session has ended" onClose={() => undefined}>
      <p>Log in again to continue where you were.</p>
      <LoginForm
        name={`${user}@${org}`}
        to={location.pathname + location.search}
        onDone={() => hasSessionEnded.set(false)}
      />
      <p>
        <a href="/ui/login" onClick={() => void logOut()}>
          Log in as another user
        </a>
      </p>
    </Dialog>
  )
}

function MachineDialog() {
  useEffect(() => {
    const look = (): void => void resumeOnMachine()
    addEventListener('focus', look)
    document.addEventListener('visibilitychange', look)
    return () => {
      removeEventListener('focus', look)
      document.removeEventListener('visibilitychange', look)
    }
  }, [])
  return (
    <Dialog title="Your session has ended" onClose={() => undefined}>
      <p>Open the page again from a terminal of this machine:</p>
      <CommandLine text="skerry ui" />
    </Dialog>
  )
}

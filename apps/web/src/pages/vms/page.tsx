import { VmList } from './vm-list.tsx'

/** The VMs of the user's organisation. */
export const VmsPage = () => <VmList />

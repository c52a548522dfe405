/** What records say of the network of commands. */

/** A host that was reached. */
export interface NetworkHost {
  host: string;
  port: number;
  connections: number;
  /** Bytes that were sent to it. */
  up: number;
  /** Bytes that it sent. */
  down: number;
}

/** A host that was refused. */
export interface NetworkRefusal {
  /** The name that was asked for, or an address; `?` if it is neither. */
  host: string;
  /** Absent if only the name was looked up. */
  port?: number;
  /**
   * `unlisted`: the list does not have it; `address`: only names can be listed; `private`: its address is;
   * `lookup`: it has no address; `other_name`: the connection was made for another name; `protocol`: not TLS
   * or HTTP; `limit`: too many.
   */
  why: 'unlisted' | 'address' | 'private' | 'lookup' | 'other_name' | 'protocol' | 'limit';
  count: number;
  /** The command, and the package whose script it is, as it calls itself. */
  by?: string;
}

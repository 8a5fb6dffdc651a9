/**
 * Tables of work grow from nothing to thousands of rows in no time, and a statement keeps the plan it was given when they
 * were empty, the checks of foreign keys among them, until PostgreSQL happens to analyze the table. That plan must be to
 * look rows up by their keys, although reading them all seemed as good then: so reading them all is out of the question
 * where there is an index, and a look-up is said to cost hardly more than reading on, which on today's disks it does.
 */
export const planning = "-c enable_seqscan=off -c random_page_cost=1.1"

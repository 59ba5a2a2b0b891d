"""How training a program classifier scales over ranks: runs of a sweep, each in its own processes, and scores.

References: Hoefler and Belli 2015 ("Scientific benchmarking of parallel computing systems"); Bailey 1991 ("Twelve ways
to fool the masses when giving performance results on parallel computers").
"""

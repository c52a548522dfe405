every :day, at: '4:30' do
  rake 'afternoon'
end
every :day, at: '12:00' do
  rake 'noon'
end
every :day, at: '7:15' do
  rake 'morning'
end
every :day, at: '04:10' do
  rake 'early'
end
every :day, at: '23:30 am' do
  rake 'odd'
end
every :day, at: 'noon' do
  rake 'noon-word'
end
every :day, at: '9:00, 5:00 pm' do
  rake 'both'
end
